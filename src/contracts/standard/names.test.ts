import { describe, expect, it } from "vitest";
import {
  declaredName,
  isAcceptedName,
  isForeignName,
  isPlainName,
  isReservedName,
  isStandardName,
  plainName,
} from "./names.ts";

describe("a name", () => {
  it.each<[name: string, standard: boolean, accepted: boolean, plain: boolean]>([
    ["a", true, true, true],
    ["look_up_order", true, true, true],
    ["v2", true, true, true],
    ["gpt-fast", false, true, true],
    ["ends_", false, true, true],
    ["getWeather", false, false, true],
    ["2nd", false, false, false],
    ["_hidden", false, false, false],
    ["shop/order", false, false, false],
    ["with space", false, false, false],
    ["", false, false, false],
  ])("is told apart by how it is written: %s", (name, standard, accepted, plain) => {
    expect([isStandardName(name), isAcceptedName(name), isPlainName(name)]).toEqual([standard, accepted, plain]);
  });

  it.each(["subagent_create", "subagent_message", "subagents", "send_to_agent", "provider:web", "mcp:x"])(
    "is reserved: %s",
    (name) => expect(isReservedName(name)).toBe(true),
  );

  it("is not reserved for looking like one that is", () => {
    expect(isReservedName("subagent")).toBe(false);
    expect(isReservedName("provider")).toBe(false);
    expect([isForeignName("mcp:x"), isForeignName("subagents")]).toEqual([true, false]);
  });

  it("is declared under a namespace, of which the plain name can be told", () => {
    expect(declaredName("finish")).toBe("standard/finish");
    expect(declaredName("getWeather")).toBe("standard/getweather");
    expect(declaredName("shop/order")).toBe("shop/order");
    expect(plainName("standard/finish")).toBe("finish");
    expect(plainName("shop/order")).toBe("shop/order");
  });
});
