import { describe, expect, it } from "vitest";
import { createReport } from "../../yaml/report.ts";
import { locatedObject, readObject } from "./located-object.ts";

function problemsOf(value: unknown): string[] {
  const report = createReport();
  readObject(value, "gateway", report);
  return report.problems().map(({ message }) => message);
}

describe("a configuration that is passed as an object", () => {
  it("is read like a file, and its places are 0", () => {
    const located = locatedObject({ plugins: { echo: { agent: undefined, config: [1, null] } } }, "gateway");
    expect(located.value).toEqual({ plugins: { echo: { config: [1, null] } } });
    expect(located.locate(["plugins", "echo"])).toEqual({ file: "gateway", line: 0, column: 0 });
  });

  it("is copied: what the program changes later has no effect", () => {
    const config = { plugins: { echo: {} as Record<string, unknown> } };
    const located = locatedObject(config, "gateway");
    config.plugins.echo.agent = true;
    expect(located.value).toEqual({ plugins: { echo: {} } });
  });

  const cycle: Record<string, unknown> = {};
  cycle.again = cycle;
  const bomb = Array.from({ length: 8 }).reduce<unknown>((inner) => Array.from({ length: 20 }, () => inner), []);
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  it.each([
    ["a function", { a: { b: () => 1 } }, "a.b: This is not a JSON value."],
    ["a bigint", { a: [1n] }, "a[0]: This is not a JSON value."],
    ["a date", { a: new Date(0) }, "a: This is not a plain map."],
    ["a Map", { a: new Map() }, "a: This is not a plain map."],
    ["NaN", { a: Number.NaN }, "a: NaN and infinity cannot be written as JSON."],
    ["a __proto__ key", JSON.parse('{"a":{"__proto__":{}}}'), "a: A key cannot be __proto__."],
    ["a NUL", { a: "\0" }, "a: This text holds a NUL character."],
    ["half a character", { a: "\ud800" }, "a: This text holds half of a surrogate pair."],
    [
      "a value that contains itself",
      cycle,
      `${Array(100).fill("again").join(".")}: Maps and lists are nested at most 100 levels deep.`,
    ],
    ["one list shared 20 to the 8 times", { bomb }, "The configuration has more than 200000 parts."],
    ["a list of 4 billion", { list: new Array(2 ** 32 - 1) }, "The configuration has more than 200000 parts."],
    ["a proxy that cannot be read", { a: revoked.proxy }, "The configuration is an object that cannot be read."],
  ])("cannot hold %s", (_what, value, problem) => {
    expect(problemsOf(value).map((each) => each.slice(0, 500))).toContain(problem.slice(0, 500));
    expect(() => locatedObject(value, "gateway")).toThrow("gateway_config_invalid");
  });
});
