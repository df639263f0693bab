import { expect, it } from "vitest";
import { normalizeMany } from "./provider-tool-call.ts";

it("takes the name under either key and leaves out an id or metadata it cannot use", () => {
  expect(
    normalizeMany([
      { tool_name: "a", id: "", metadata: "m" },
      { name: "b", parameters: null, id: "1" },
    ]),
  ).toEqual([
    { name: "a", parameters: {} },
    { name: "b", parameters: {}, id: "1" },
  ]);
});

it.each([
  [{ a: 1 }, "tool_calls must"],
  [[{ name: "a" }, null], "tool_calls[1] must"],
  [[{ name: 5 }], "tool_calls[0].name must"],
  [[{ name: "", tool_name: "a" }], "tool_calls[0].name must"],
  [[{ name: "a", parameters: "{}" }], "tool_calls[0].parameters must"],
])("refuses %j", (value, detail) => {
  expect(() => normalizeMany(value)).toThrow(`invalid_agent_provider_turn_result: ${detail}`);
});

it("reads the other key only where the first is absent or null", () => {
  expect(normalizeMany([{ name: null, tool_name: "a" }])).toMatchObject([{ name: "a" }]);
  expect(normalizeMany([{ name: "a", tool_name: "b" }])).toMatchObject([{ name: "a" }]);
});

it("copies parameters and drops a prototype", () => {
  const [call] = normalizeMany([{ name: "a", parameters: JSON.parse('{"__proto__":{"admin":true},"k":1}') }]);
  expect(Object.keys(call?.parameters ?? {})).toEqual(["k"]);
  expect(Object.isFrozen(call?.parameters)).toBe(true);
});
