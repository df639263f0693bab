// How something that went wrong is told in a result: what kind, in which words, in which turn.
import { nonEmptyString } from "../contracts/coerce.ts";
import { errorMessage } from "../contracts/error.ts";
import { isMap, type JsonMap, seal, type UnknownMap } from "../contracts/json.ts";
import type { Step } from "./step.ts";

/** The failure of a runner or callback that threw. */
export function failureOf(thrown: unknown, turn: number): JsonMap {
  return seal({ type: nonEmptyString(fieldOf(thrown, "name")) ?? "Error", ...wordsAndCode(thrown), turn_count: turn });
}

/** What was thrown, in words that are never empty, and its own code or the HTTP status that provider clients give theirs. */
export function wordsAndCode(thrown: unknown): { readonly message: string; readonly code: string } {
  const message = nonEmptyString(fieldOf(thrown, "message")) ?? errorMessage(thrown);
  const code = fieldOf(thrown, "code") ?? fieldOf(thrown, "statusCode") ?? fieldOf(thrown, "status");
  return {
    message: message || "It failed without a message.",
    code: typeof code === "string" || typeof code === "number" ? String(code) : "",
  };
}

/** A field of something that was thrown, which may be anything and may refuse to be looked at. */
function fieldOf(thrown: unknown, field: string): unknown {
  try {
    return isMap(thrown) ? thrown[field] : undefined;
  } catch {
    return undefined;
  }
}

/** Ends the run because a callback that has a say in it threw. */
export function failCallback(step: Step, thrown: unknown): undefined {
  const failure = failureOf(thrown, step.state.turn);
  step.notify("failed", { turn: step.state.turn, error: failure.message ?? "" });
  step.record({ type: "callback.failed" }, "flow.end", [{ to: "stop", value: { failure } }]);
}

/** The failure that a provider's answer reports itself. */
export function reportedFailure(failure: UnknownMap | readonly unknown[], turn: number): JsonMap {
  const given: UnknownMap = isMap(failure) ? failure : {};
  return seal({
    ...(given as JsonMap),
    type: nonEmptyString(given.type) ?? "provider_turn_failure",
    message: nonEmptyString(given.message) ?? "Provider turn failed.",
    turn_count: Number.isInteger(given.turn_count) ? (given.turn_count as number) : turn,
  });
}
