import { expect, it } from "vitest";
import { runSwitch } from "./switch-step.ts";

const step = { id: "x.if", predicate: { path: "config.limit", op: "lt", value: 3 } } as const;

it("a switch decides about the payload, the context and the configuration of the plugin behind it", () => {
  const payload = { n: 1 };
  expect(runSwitch(step, { payload, context: {}, config: { limit: 2 } })).toEqual({
    ...{ kind: "decided", holds: true, event: { type: "ductile.switch.true", payload } },
  });
  expect(runSwitch(step, { payload, context: {}, config: { limit: 3 } })).toEqual({
    ...{ kind: "decided", holds: false, event: { type: "ductile.switch.false", payload } },
  });
});

it("a switch fails, without an exception, when the types clash or its predicate is gone", () => {
  expect(runSwitch(step, { payload: {}, context: {}, config: {} })).toMatchObject({
    ...{ kind: "failed", problem: expect.stringMatching(/^step "x\.if": The predicate cannot be evaluated/) },
  });
  expect(runSwitch({ id: "x" }, {})).toMatchObject({ kind: "failed" });
});
