import { expect, it } from "vitest";
import type { Json } from "../json.ts";
import { observe } from "./tool-observability.ts";

const called = (id: string) => ({ type: "tool_call", tool_name: "t", tool_call_id: id, turn_count: 1 });
const answered = (id: string) => ({ ...called(id), type: "tool_result", metadata: { success: true } });
const executed = (id: string, result: Json) => ({ tool_call_id: id, result: { result } });

it("pairs calls that share an id with their executions one by one", () => {
  const events = [called("c"), called("c"), answered("c"), answered("c"), answered("c")];
  const { calls } = observe(events, [executed("c", "ab"), executed("c", 1.5)]);
  expect(calls).toMatchObject([
    { sequence: 1, status: "succeeded", result: { type: "string", size: 2 } },
    { sequence: 2, status: "succeeded", result: { type: "double" } },
  ]);
});

it("tells the shape of every kind of value and never the value", () => {
  const values: Json[] = [[1], { a: 1 }, {}, "é", 3, true, null];
  const shapes = values.map((value) => {
    const { calls } = observe([called("c"), answered("c")], [executed("c", value)]);
    return (calls as { result: unknown }[])[0]?.result;
  });
  expect(shapes).toEqual([
    { type: "array", count: 1 },
    { type: "object", count: 1 },
    { type: "array", count: 0 },
    { type: "string", size: 2 },
    { type: "integer" },
    { type: "boolean" },
    { type: "null" },
  ]);
});

it("leaves a succeeded call without a shape when nothing ran for it", () => {
  const { calls } = observe([called("c"), answered("c")], []);
  expect(calls).toMatchObject([{ status: "succeeded" }]);
  expect((calls as object[])[0]).not.toHaveProperty("error");
});
