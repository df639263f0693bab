// Workflows handed to a scripted handler, by a caller or by the clock.
import { dispatchScheduled, runWorkflow } from "../../src/agents-api/workflows/run-workflow.ts";
import { createHooks } from "../../src/contracts/hooks.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";

/** What a handler answers, or throws. */
type Answer = { result?: unknown; error?: { code: string; message: string }; throws?: string; echo?: boolean };

export async function dispatchWorkflow({ input, handler }: { input: unknown; handler?: Answer }) {
  const { hooks, events } = listen();
  const calls: JsonMap[] = [];
  const answer = await runWorkflow(input, { hooks, handler: playing(handler, calls) });
  const result = isOperationError(answer) ? { error: answer } : answer;
  return { result, events, handler_calls: calls.length };
}

export async function dispatchTick(given: { args: unknown; handler?: Answer; ability_missing?: boolean }) {
  const { hooks, events } = listen();
  const calls: JsonMap[] = [];
  const handler = playing(given.handler, calls);
  const run = given.ability_missing ? undefined : (input: JsonMap) => runWorkflow(input, { hooks, handler });
  await dispatchScheduled(given.args, { hooks, run });
  return { handler_calls: calls.map((args) => ({ handler: "handler", args })), events };
}

function listen() {
  const hooks = createHooks();
  const events: unknown[] = [];
  hooks.on("runWorkflowDispatchFailed", (...args) => {
    events.push({ event: "agents_run_workflow_dispatch_failed", args });
  });
  return { hooks, events };
}

function playing(answer: Answer | undefined, calls: JsonMap[]) {
  if (answer === undefined) return undefined;
  return (input: JsonMap) => {
    calls.push(input);
    if (answer.throws !== undefined) throw new Error(answer.throws);
    return answer.echo ? input : (answer.error ?? answer.result);
  };
}
