import { describe, expect, it } from "vitest";
import { resolve } from "./tiers.ts";

const tools = { a: {}, b: { mandatory: true }, c: { description: " C. ", parameters: { required: ["x", " ", "x"] } } };

describe("the tiers of tools", () => {
  it("rank what is asked for, what is used, what is mandatory, then the rest", () => {
    const context = { tier_1_tools: "c" };
    expect(resolve(tools, context, { topUsed: ["gone", "c", "a"], hardCap: 2 }).tier_1).toEqual(["c", "a"]);
    expect(resolve(tools, {}, { hardCap: 2 }).tier_1).toEqual(["b", "a"]);
  });

  it("tell in a line what a tool of the second tier is for and needs", () => {
    expect(resolve(tools, { tool_tier_hard_cap: 2 })).toEqual({
      tier_1: ["b", "a"],
      tier_2: ["c"],
      manifest: [{ name: "c", summary: "C.", required_fields: ["x"] }],
    });
  });

  it("take one name for a list of what a tool needs", () => {
    const needs = (required: unknown) =>
      resolve({ a: {}, b: { parameters: { required } } }, {}, { hardCap: 1 }).manifest[0]?.required_fields;
    expect(needs(" x ")).toEqual(["x"]);
    for (const none of ["", null, { x: true }, true]) expect(needs(none)).toEqual([]);
  });

  it("leave at least one tool in the first and read a cap only from a number", () => {
    expect(resolve(tools, { tool_tier_hard_cap: -3 }).tier_1).toEqual(["b"]);
    expect(resolve(tools, { tool_tier_hard_cap: "few" }, { hardCap: null }).tier_1).toHaveLength(3);
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n/t${index}`, {}]));
    expect(resolve(many).tier_1).toHaveLength(15);
  });

  it("hold no definition that is not a map", () => {
    expect(resolve({ a: "tool", b: [], c: null })).toEqual({ tier_1: ["b"], tier_2: [], manifest: [] });
  });
});
