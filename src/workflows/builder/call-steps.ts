// Steps that do one thing: call an operation, ask an agent, run a function, sleep.
import { parseDuration } from "../../contracts/gateway/durations.ts";
import { isEmpty, isMap } from "../../contracts/json.ts";
import type { StepFunction, StepFunctionDefinition } from "../steps/step-functions.ts";
import type { StepFunctionContext } from "../steps/step-work.ts";
import { invalid, required } from "./place.ts";
import type { ReferenceTo } from "./reference.ts";
import { newStep, type Step } from "./step.ts";
import type { Expression, ExpressionMap, Given, OutputOf, Resolved, Text } from "./values.ts";
import { written } from "./written.ts";

/** Calls an operation. What it returns is not checked: the type is what you know about it. */
export function operation<Output = unknown>(name: string, args: ExpressionMap = {}): Step<OutputOf<Output>, "call"> {
  return newStep("call", () => ({
    step: { type: "ability", ability: required(name, "operation"), args: written(args) },
  }));
}

/** Sends a message to an agent and waits for the reply. In a session it knows what was said there before. */
export function askAgent<Output = { readonly reply: string }>(
  agent: string,
  message: Text,
  { sessionId }: { readonly sessionId?: Text } = {},
): Step<Given<Output>, "call"> {
  return newStep("call", () => {
    const session_id = sessionId === undefined ? {} : { session_id: written(sessionId) };
    const text = written(message);
    return {
      step: { type: "agent", agent: required(agent, "agent"), message: required(text, "message"), ...session_id },
    };
  });
}

/** A function of the program, or one that can also be asked what came of it. */
type Work<Input, Output> =
  | ((input: Input, context: StepFunctionContext) => Output)
  | StepFunctionDefinition<(input: Input, context: StepFunctionContext) => Output, Input>;

/**
 * Runs a function with the input. It may run more than once for one step, after a failure or a crash: always with the same
 * idempotency key.
 */
export function run<Output, Input extends Expression = null>(
  work: Work<Given<Resolved<Input>>, Output>,
  input?: Input,
): Step<OutputOf<Awaited<Output>>, "call"> {
  return newStep("call", ({ name }) => {
    if (!isWork(work)) throw invalid("run needs a function, or { run, reconcile?, idempotent? }");
    const step = { type: "function", function: name, ...(input !== undefined && { input: written(input) }) };
    // What it is called with is what the bindings of its input come to.
    return { step, needs: [{ kind: "function", name, work: work as StepFunction | StepFunctionDefinition }] };
  });
}

function isWork(work: unknown): boolean {
  if (typeof work === "function") return true;
  if (!isMap(work) || typeof work.run !== "function") return false;
  const { run: _, reconcile, idempotent = false, ...unknown } = work;
  const isAsked = reconcile === undefined || typeof reconcile === "function";
  return isAsked && typeof idempotent === "boolean" && isEmpty(unknown);
}

/** Waits for a duration such as `30s` or `1h30m`, or until a time in ISO 8601. */
export function sleep(
  time: string | { readonly until: string | ReferenceTo<string> },
): Step<{ readonly until: string }, "sleep"> {
  return newStep("sleep", () => {
    if (typeof time !== "string") return { step: { type: "sleep", until: required(written(time.until), "until") } };
    const isBound = time.includes("${");
    if (!isBound && parseDuration(time) === undefined) throw invalid(`${JSON.stringify(time)} is no duration`);
    return { step: { type: "sleep", for: time } };
  });
}
