// How single steps are carried out: calls of operations, messages to agents, and the types that a host adds.
import { scalarText, trimmed } from "../../contracts/coerce.ts";
import { errorMessage } from "../../contracts/error.ts";
import { isContainer, isMap, type Json, type JsonMap, snapshot } from "../../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../../contracts/operation-error.ts";
import type { BindingContext } from "../../contracts/workflows/bindings.ts";
import { isIdempotent, timeoutOf } from "../../contracts/workflows/step-options.ts";
import type { Outcome } from "../machine/next.ts";
import type { OperationCall, Operations } from "./operations.ts";

/** Carries a step out. It returns an output, an operation error, or a map with `_suspend` to wait for something outside. */
export type StepHandler = (step: JsonMap, context: BindingContext, call: OperationCall) => unknown;

type Carry = (step: JsonMap, context: () => BindingContext, call: OperationCall) => unknown;

export type StepHandlers = ReadonlyMap<string, Carry>;

/** The types that a host adds. */
export function hostHandlers(handlers: Iterable<readonly [string, StepHandler]>): StepHandlers {
  return new Map(
    [...handlers].map(([type, handler]) => [type, (step, context, call) => handler(step, context(), call)]),
  );
}

/** The two types of the contract that do something by themselves. */
export function contractHandlers(operations: Operations | undefined): StepHandlers {
  return new Map<string, Carry>([
    ["ability", (step, _, call) => callOperation(step, operations, call)],
    ["agent", (step, _, call) => askAgent(step, operations, call)],
  ]);
}

/** What came of a step. A handler that throws has failed; it never throws itself. */
export async function runStep(
  handlers: StepHandlers,
  step: JsonMap,
  context: () => BindingContext,
  call: OperationCall,
): Promise<Outcome> {
  const handler = handlers.get(typeof step.type === "string" ? step.type : "");
  if (!handler) return { as: "skipped", error: noHandler(step) };
  try {
    return outcomeOf(await withinTime(step, call, (limited) => handler(step, context, limited)));
  } catch (thrown) {
    return { as: "failed", error: thrown instanceof TimedOut ? timedOut(step) : errorOfThrown(thrown) };
  }
}

class TimedOut extends Error {}

/** What the work returns, unless the time of the step is up first. Then its signal fires, and it is not waited for. */
async function withinTime(
  step: JsonMap,
  call: OperationCall,
  work: (call: OperationCall) => unknown,
): Promise<unknown> {
  const limit = timeoutOf(step);
  if (limit === undefined) return await work(call);
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late.abort();
      reject(new TimedOut());
    }, limit);
  });
  const signal = call.signal ? AbortSignal.any([call.signal, late.signal]) : late.signal;
  try {
    return await Promise.race([work({ ...call, signal }), timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

// It may still be at work: that it is done twice is only for a step that says that this does no harm.
function timedOut(step: JsonMap): JsonMap {
  const error = { code: "workflow_step_timed_out", message: "The step did not end within its time.", data: null };
  return isIdempotent(step) ? error : { ...error, retryable: false };
}

function outcomeOf(returned: unknown): Outcome {
  if (isOperationError(returned)) {
    const { code, message, data = null } = returned;
    return { as: "failed", error: { code, message, data } };
  }
  const output = snapshot(returned);
  if (isMap(output) && isMap(output._suspend)) {
    return { as: "suspended", suspend: output._suspend as JsonMap, returned: output };
  }
  return { as: "succeeded", output: isContainer(output) ? output : { value: output } };
}

/** The error of a step whose handler has thrown. */
export function errorOfThrown(thrown: unknown): JsonMap {
  const exception = thrown instanceof Error ? thrown.name : typeof thrown;
  return {
    code: "handler_exception",
    error_type: "handler_exception",
    message: errorMessage(thrown),
    data: { exception },
    ...retryWish(thrown),
  };
}

/** What an error says about another attempt: `retryable: false`, or in `retryAfter` the seconds to wait for it. */
function retryWish(thrown: unknown): JsonMap {
  if (typeof thrown !== "object" || thrown === null) return {};
  const { retryable, retryAfter } = thrown as { readonly retryable?: unknown; readonly retryAfter?: unknown };
  return {
    ...(typeof retryable === "boolean" && { retryable }),
    ...(typeof retryAfter === "number" && Number.isFinite(retryAfter) && { retry_after: retryAfter }),
  };
}

async function callOperation(
  { ability, args = null }: JsonMap,
  operations: Operations | undefined,
  call: OperationCall,
): Promise<unknown> {
  const name = trimmed(ability);
  if (name === undefined) return operationError("ability_name_missing", "The step does not name an ability.");
  if (!operations) return operationError("abilities_api_missing", "There are no abilities here.");
  if (!(await operations.has(name))) return operationError("unknown_ability", `There is no ability "${name}".`);
  return await operations.call(name, argumentsOf(args), call);
}

function argumentsOf(args: Json): Json {
  if (args === null) return {};
  return isContainer(args) ? args : [args];
}

const CHAT = "agents/chat";

async function askAgent(
  { agent = null, message = null, session_id = null }: JsonMap,
  operations: Operations | undefined,
  call: OperationCall,
): Promise<unknown> {
  if (!operations || !(await operations.has(CHAT))) return chatMissing;
  const returned = await operations.call(CHAT, { agent, message, session_id }, call);
  const reply = typeof returned === "boolean" ? (returned ? "1" : "") : scalarText(returned);
  return reply === undefined ? returned : { reply };
}

const chatMissing: OperationError = operationError(
  "agents_chat_missing",
  "There is no agents/chat to ask an agent with.",
);

function noHandler({ id, type }: JsonMap): JsonMap {
  return {
    code: "no_step_handler",
    message: `Nothing here can run the step "${String(id)}" of the type "${String(type)}".`,
  };
}
