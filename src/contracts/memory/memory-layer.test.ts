import { describe, expect, it } from "vitest";
import { normalize } from "./memory-layer.ts";

describe("a memory layer", () => {
  it.each([
    [" USER ", undefined, "user"],
    ["site", undefined, "workspace"],
    [4, undefined, "workspace"],
    ["site", "agent", "agent"],
    ["site", "planet", "workspace"],
    ["net work", undefined, "workspace"],
  ])("reads %j with the fallback %j as %s", (value, fallback, layer) => {
    expect(normalize(value, fallback)).toBe(layer);
  });
});
