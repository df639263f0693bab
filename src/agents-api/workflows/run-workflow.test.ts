import { describe, expect, it } from "vitest";
import { createHooks } from "../../contracts/hooks.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { dispatchScheduled, runWorkflow } from "./run-workflow.ts";

function listening() {
  const hooks = createHooks();
  const told: unknown[] = [];
  hooks.on("runWorkflowDispatchFailed", (...args) => told.push(args));
  return { hooks, told };
}

describe("running a workflow", () => {
  it("answers what the handler answers", async () => {
    const { hooks, told } = listening();
    const handler = ({ workflow_id }: JsonMap) => ({ run_id: "r", workflow_id, extra: [1] });
    const answer = { run_id: "r", workflow_id: "w", extra: [1] };
    expect(await runWorkflow({ workflow_id: "w" }, { handler, hooks })).toEqual(answer);
    hooks.filter("workflowHandler", () => handler);
    expect(await runWorkflow({ workflow_id: "w" }, { hooks })).toEqual(answer);
    expect(told).toEqual([]);
  });

  it("tells every refusal, with a reason", async () => {
    const { hooks, told } = listening();
    const input = { workflow_id: "w" };
    const failing = () => Promise.reject(new Error("no disk"));
    expect(await runWorkflow(input, { hooks })).toMatchObject({ code: "agents_run_workflow_no_handler" });
    const answers: [handler: () => unknown, code: string][] = [
      [() => "done", "agents_run_workflow_invalid_result"],
      [() => ["done"], "agents_run_workflow_invalid_result"],
      [() => ({ code: "denied", message: "No." }), "denied"],
      [failing, "agents_run_workflow_handler_failed"],
    ];
    for (const [handler, code] of answers) expect(await runWorkflow(input, { hooks, handler })).toMatchObject({ code });
    const reasons = ["no_handler", "invalid_result", "invalid_result", "denied", "agents_run_workflow_handler_failed"];
    expect(told).toEqual(reasons.map((reason) => [reason, input]));
  });
});

describe("running a workflow by the clock", () => {
  it("reads the id wherever a scheduler puts it", async () => {
    const asked: JsonMap[] = [];
    const run = (input: JsonMap) => {
      asked.push(input);
      return {};
    };
    for (const args of ["w", { workflow_id: "w" }, ["w"], { workflow_id: "w", more: 1 }])
      await dispatchScheduled(args, { run });
    const input = { workflow_id: "w", inputs: {}, options: { source: "action_scheduler" } };
    expect(asked).toEqual([input, input, input, input]);
  });

  it("tells what came between", async () => {
    const { hooks, told } = listening();
    for (const args of ["", " ", {}, [], [{}], null]) await dispatchScheduled(args, { hooks, run: () => ({}) });
    expect(told.splice(0)).toEqual(Array(6).fill(["no_workflow_id", { source: "action_scheduler" }]));
    await dispatchScheduled("w", { hooks });
    await dispatchScheduled("w", { hooks, run: () => ({ code: "bad", message: "m" }) });
    expect(told).toEqual([
      ["ability_missing", { workflow_id: "w" }],
      ["bad", { workflow_id: "w", source: "action_scheduler" }],
    ]);
  });
});
