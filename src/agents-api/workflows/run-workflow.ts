// Running a workflow through a host's handler, for those who ask and for the clock.
import { askHandler, findHandler } from "../../contracts/ask-handler.ts";
import { identifier } from "../../contracts/coerce.ts";
import type { Hooks } from "../../contracts/hooks.ts";
import { asMap, emptyMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../../contracts/operation-error.ts";
import type { Handler } from "../../contracts/seams.ts";

/** What runs a workflow: it is given the input, and answers with a map or refuses with `{ code, message }`. */
export type RunWorkflowHost = { readonly handler?: Handler | undefined; readonly hooks?: Hooks | undefined };

const noHandler = operationError("agents_run_workflow_no_handler", "No handler for workflows is registered.");
const invalidResult = operationError("agents_run_workflow_invalid_result", "The handler did not answer with a map.");

/** The contract has shorter words for our own two refusals; a refusal of a handler is reported by its code. */
const reasons = new Map<OperationError, string>([
  [noHandler, "no_handler"],
  [invalidResult, "invalid_result"],
]);

/** What the handler answers, as it is. Each refusal emits `runWorkflowDispatchFailed`. */
export async function runWorkflow(
  input: unknown,
  { handler: own, hooks }: RunWorkflowHost,
): Promise<JsonMap | OperationError> {
  const given = snapshotMap(input);
  const handler = await findHandler("workflowHandler", own, given, hooks);
  const answer = handler
    ? ((await askHandler(handler, given, "agents_run_workflow_handler_failed")) ?? invalidResult)
    : noHandler;
  if (isOperationError(answer)) {
    hooks?.emit("runWorkflowDispatchFailed", reasons.get(answer) ?? answer.code, given);
  }
  return answer;
}

const source = "action_scheduler";

/**
 * Runs the workflow that a scheduler names: by its id, a map with `workflow_id`, or a list that begins with the id.
 * No caller waits for the answer, so every refusal is emitted as `runWorkflowDispatchFailed`. `run` is the operation that runs
 * workflows; without it there is none.
 */
export async function dispatchScheduled(
  args: unknown,
  { run, hooks }: { readonly run?: Handler | undefined; readonly hooks?: Hooks | undefined },
): Promise<void> {
  const failed = (reason: string, about: JsonMap) => hooks?.emit("runWorkflowDispatchFailed", reason, about);
  const workflow_id = readWorkflowId(args);
  if (workflow_id === undefined) return failed("no_workflow_id", { source });
  if (run === undefined) return failed("ability_missing", { workflow_id });
  const input = { workflow_id, inputs: emptyMap, options: { source } };
  const answer = await askHandler(run, input, "agents_run_workflow_handler_failed");
  if (isOperationError(answer)) failed(answer.code, { workflow_id, source });
}

function readWorkflowId(args: unknown): string | undefined {
  return identifier(Array.isArray(args) ? args[0] : (asMap(args)?.workflow_id ?? args));
}
