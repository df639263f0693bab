// Steps that do one thing: call an operation, ask an agent, run a function, sleep.
import { parseDuration } from "../../contracts/gateway/durations.ts";
import type { StepFunction, StepFunctionContext } from "../steps/step-functions.ts";
import { invalid } from "./place.ts";
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

/**
 * Runs a function with the input. It may run more than once for one step, after a failure or a crash: always with the same
 * idempotency key.
 */
export function run<Output, Input extends Expression = null>(
  work: (input: Given<Resolved<Input>>, context: StepFunctionContext) => Output,
  input?: Input,
): Step<OutputOf<Awaited<Output>>, "call"> {
  return newStep("call", ({ name }) => {
    if (typeof work !== "function") throw invalid("run needs a function");
    const step = { type: "function", function: name, ...(input !== undefined && { input: written(input) }) };
    // What it is called with is what the bindings of its input come to.
    return { step, functions: [[name, work as StepFunction]] };
  });
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

function required(given: unknown, what: string): string {
  if (typeof given === "string" && given.trim() !== "") return given;
  throw invalid(`it needs text for its ${what}`);
}
