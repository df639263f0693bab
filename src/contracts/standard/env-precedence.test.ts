import { describe, expect, it } from "vitest";
import { isFlagOn, type Layer, resolveVariable } from "./env-precedence.ts";

const order: readonly Layer[] = ["thread", "user", "instance", "agent", "tool", "prompt"];

describe("the value of a variable", () => {
  it.each(order.map((layer, index) => [layer, order.slice(index)] as const))(
    "comes from %s before what stands behind it",
    (layer, rest) => {
      const layers = Object.fromEntries(rest.map((each) => [each, { KEY: `of ${each}` }]));
      expect(resolveVariable("KEY", layers)).toEqual({ value: `of ${layer}`, from: layer });
    },
  );

  it("may be empty, and hides what stands behind it even so", () => {
    expect(resolveVariable("KEY", { user: { KEY: "" }, agent: { KEY: "x" } })).toEqual({ value: "", from: "user" });
  });

  it("is not there when nobody has put it there", () => {
    expect(resolveVariable("constructor", { thread: {}, agent: undefined })).toBeUndefined();
    expect(resolveVariable("KEY", { thread: { KEY: undefined }, prompt: { KEY: "p" } })).toEqual({
      value: "p",
      from: "prompt",
    });
  });
});

describe("a flag", () => {
  it.each([
    ["true", true],
    ["YES", true],
    [" 1 ", true],
    ["True\n", true],
    ["on", false],
    ["", false],
    ["0", false],
    ["y", false],
    [undefined, false],
  ])("that is set to %o is on: %o", (value, isOn) => {
    expect(isFlagOn(value)).toBe(isOn);
  });
});
