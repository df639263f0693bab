import { expect, it } from "vitest";
import { emittedEvents } from "./emitted-events.ts";

const place = { pipeline: "p", step_id: "x", instance_id: "i", depth: 0 };

it("events are routed with the text of the response and where they come from, unless they say so themselves", () => {
  const events = [
    { type: "t", payload: { n: 1 } },
    { type: "u", payload: { result: { path: "x" }, ductile_upstream_plugin: "b" } },
  ];
  expect(emittedEvents({ events, result: "done" }, { plugin: "a", place })).toEqual([
    {
      type: "t",
      payload: {
        ...{ n: 1, result: "done" },
        ...{ ductile_upstream_plugin: "a", ductile_upstream_pipeline: "p", ductile_upstream_step_id: "x" },
      },
    },
    {
      type: "u",
      payload: {
        ...{ result: { path: "x" }, ductile_upstream_plugin: "b" },
        ...{ ductile_upstream_pipeline: "p", ductile_upstream_step_id: "x" },
      },
    },
  ]);
});

it("a pipeline step that emitted nothing says that it succeeded, with its result (scenario 15)", () => {
  expect(emittedEvents({ events: [], result: "hi" }, { plugin: "echo", place })).toMatchObject([
    { type: "ductile.step.succeeded", payload: { result: "hi", ductile_upstream_plugin: "echo" } },
  ]);
  expect(emittedEvents({ events: [], result: "hi" }, { plugin: "echo", place: null })).toEqual([]);
});
