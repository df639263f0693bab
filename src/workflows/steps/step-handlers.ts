// How single steps are carried out: calls of operations, messages to agents, and the types that a host adds.
import { scalarText, trimmed } from "../../contracts/coerce.ts";
import { isContainer, isMap, type Json, type JsonMap, snapshot } from "../../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../../contracts/operation-error.ts";
import type { BindingContext } from "../../contracts/workflows/bindings.ts";
import { isIdempotent, retryOf, timeoutOf } from "../../contracts/workflows/step-options.ts";
import type { Outcome } from "../machine/next.ts";
import { errorOfRefusal, errorOfThrown } from "./errors-of-steps.ts";
import { after } from "./long-timer.ts";
import type { OperationCall, Operations } from "./operations.ts";

/** Carries a step out. It returns an output, an operation error, or a map with `_suspend` to wait for something outside. */
export type StepHandler = (step: JsonMap, context: BindingContext, call: StepCall) => unknown;

/** How a step is called: one attempt at it. */
export type StepCall = OperationCall & {
  /** Counted from 1. */
  readonly attempt: number;
};

export type StepCarrier = {
  readonly carry: (step: JsonMap, context: () => BindingContext, call: StepCall) => unknown;
  /** Whether it does no harm to do it twice; what the step says unless given. */
  readonly isIdempotent?: (step: JsonMap) => boolean;
};

export type StepHandlers = ReadonlyMap<string, StepCarrier>;

/** The types that a host adds. */
export function hostHandlers(handlers: Iterable<readonly [string, StepHandler]>): StepHandlers {
  return new Map(
    [...handlers].map(([type, handler]) => [type, { carry: (step, context, call) => handler(step, context(), call) }]),
  );
}

/** The two types of the contract that do something by themselves. */
export function contractHandlers(operations: Operations | undefined): StepHandlers {
  return new Map<string, StepCarrier>([
    ["ability", { carry: (step, _, call) => callOperation(step, operations, call) }],
    ["agent", { carry: (step, _, call) => askAgent(step, operations, call) }],
  ]);
}

/** What came of a step. A handler that throws has failed; it never throws itself. */
export async function runStep(
  handlers: StepHandlers,
  step: JsonMap,
  context: () => BindingContext,
  call: StepCall,
): Promise<Outcome> {
  const handler = handlers.get(typeof step.type === "string" ? step.type : "");
  if (!handler) return { as: "skipped", error: noHandler(step) };
  try {
    return outcomeOf(await withinTime(step, call, (limited) => handler.carry(step, context, limited)), step);
  } catch (thrown) {
    return { as: "failed", error: thrown === timeIsUp ? timedOut(step, handler) : errorOfThrown(thrown) };
  }
}

const timeIsUp = new Error("The time of the step is up.");

/** What the work returns, unless the time of the step is up first. Then its signal fires, and it is not waited for. */
async function withinTime(step: JsonMap, call: StepCall, work: (call: StepCall) => unknown): Promise<unknown> {
  const limit = timeoutOf(step);
  if (limit === undefined) return await work(call);
  const late = new AbortController();
  let callOff = () => {};
  const timeUp = new Promise<never>((_, reject) => {
    callOff = after(limit, () => {
      late.abort();
      reject(timeIsUp);
    });
  });
  const { signal: stop } = call;
  // Whoever stops the run waits for the step no longer, so that a timer would only keep the process alive.
  stop?.addEventListener("abort", callOff, { once: true });
  const signal = stop ? AbortSignal.any([stop, late.signal]) : late.signal;
  try {
    return await Promise.race([work({ ...call, signal }), timeUp]);
  } finally {
    callOff();
    stop?.removeEventListener("abort", callOff);
  }
}

// It may still be at work: that it is done twice is only for a step that says that this does no harm.
function timedOut(step: JsonMap, { isIdempotent: mayBeTwice = isIdempotent }: StepCarrier): JsonMap {
  const error = { code: "workflow_step_timed_out", message: "The step did not end within its time.", data: null };
  return mayBeTwice(step) ? error : { ...error, retryable: false };
}

/** What is the same at every attempt; and where an output does not fit, the work was done. */
const neverAgain: ReadonlySet<string> = new Set([
  "unknown_ability",
  "ability_name_missing",
  "abilities_api_missing",
  "agents_chat_missing",
  "workflow_function_missing",
  "invalid_step_input",
  "invalid_step_output",
]);

function outcomeOf(returned: unknown, step: JsonMap): Outcome {
  if (returned instanceof Error) return { as: "failed", error: errorOfThrown(returned) };
  if (isOperationError(returned)) {
    const error = errorOfRefusal(returned);
    const isFinal = retryOf(step) !== undefined && neverAgain.has(returned.code);
    return { as: "failed", error: isFinal ? { ...error, retryable: false } : error };
  }
  const output = snapshot(returned);
  if (isMap(output) && isMap(output._suspend)) {
    return { as: "suspended", suspend: output._suspend as JsonMap, returned: output };
  }
  return { as: "succeeded", output: isContainer(output) ? output : { value: output } };
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
