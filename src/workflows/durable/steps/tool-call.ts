// A step that calls a tool: the same checks as for a call of an agent, at the moment at which it would run.
import { isMap, type Json, snapshotMap } from "../../../contracts/json.ts";
import { type OperationError, operationError } from "../../../contracts/operation-error.ts";
import { normalize as readPolicy } from "../../../contracts/tools/action-policy.ts";
import { timeoutOf } from "../../../threads/calls/ledger.ts";
import { runTool } from "../../../threads/calls/run-tool.ts";
import { standardResult } from "../../../threads/calls/standard-result.ts";
import { switchedOff } from "../../../threads/calls/switched-off.ts";
import { asksItself } from "../../../threads/requests/terms.ts";
import type { Tool } from "../../../threads/tool.ts";
import { boundTo, readAnswer } from "../asked-request.ts";
import type { StepAttempt } from "../step-attempt.ts";

/** What the tool returned, or an operation error. Throws what the tool throws. */
export async function callTool(
  about: StepAttempt,
  tool: Tool,
  input: Json,
  signal: AbortSignal = about.signal,
): Promise<unknown> {
  const { host, run, order, key } = about;
  const refusal = await refusalOf(about, tool);
  if (refusal) return refusal;
  const parameters = snapshotMap(input);
  const checked = await tool.validateInput(parameters);
  if (!checked.ok) {
    const problems = checked.problems.map(({ message }) => message).join("; ");
    return operationError("invalid_parameters", `The parameters of "${tool.name}" are not valid: ${problems}`, {
      retryable: false,
    });
  }
  const { returned, left, isLate } = await runTool({
    ...{
      tool,
      call: { tool_name: tool.name, parameters, id: order.path, metadata: {} },
      idempotencyKey: key,
      threadId: run.id,
    },
    ...{ options: {}, timeoutMs: timeoutOf(tool), signal, sealing: host.threads.sealing },
    isHeld: async () => !run.givenUp.aborted && (await refusalOf(about, tool)) === undefined,
    prepare: () => undefined,
    finish: async (outcome) => {
      if ("threw" in outcome) throw outcome.threw;
      return outcome;
    },
  });
  if (isLate) {
    return operationError("workflow_step_timed_out", `"${tool.name}" took too long.`, { retryable: tool.idempotent });
  }
  if (left.entries.length > 0) {
    return operationError("tool_needs_thread", `"${tool.name}" has queued something, which only works on a thread.`);
  }
  const result = standardResult(returned);
  if (result.success) return result.result ?? null;
  const { error_type } = isMap(returned) && isMap(returned.metadata) ? returned.metadata : {};
  return operationError(typeof error_type === "string" ? error_type : "tool_failed", result.error);
}

/** Why the tool must not run: looked at right before it would. */
async function refusalOf(about: StepAttempt, tool: Tool): Promise<OperationError | undefined> {
  const { host, run } = about;
  const { trust, switches } = host.threads;
  const off = await switches.findNow("tool", tool.name);
  if (off) return operationError("tool_switched_off", switchedOff(tool.name, off));
  const { required_capability: capability, action_policy } = tool.declaration;
  if (typeof capability === "string" && !(await trust.authority.allows(run.principal, capability))) {
    return operationError("capability_denied", `"${tool.name}" needs the capability "${capability}".`, {
      retryable: false,
    });
  }
  if (readPolicy(action_policy) === "forbidden") {
    return operationError("tool_forbidden", `"${tool.name}" may not be run.`, { retryable: false });
  }
  return asksItself(tool) && !(await isApproved(about, tool))
    ? operationError("approval_required", `"${tool.name}" runs only once a person has agreed.`, { retryable: false })
    : undefined;
}

/** Read from the request itself: what the state of the run says of it is not sealed. */
async function isApproved({ host, run, order }: StepAttempt, tool: Tool): Promise<boolean> {
  const id = run.state.open[order.path]?.request_id;
  const request = id === undefined ? undefined : await host.threads.stores.requests.get(id);
  const parameters = boundTo(run, order, snapshotMap(order.step.args));
  const read = readAnswer(host.threads.sealing, request, { name: tool.name, parameters });
  return request?.kind === "approval" && read.outcome === "answered" && read.answer.decision === "accepted";
}
