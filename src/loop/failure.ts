// How something that went wrong is told in a result: what kind, in which words, in which turn.
import { nonEmptyString } from "../contracts/coerce.ts";
import { errorMessage } from "../contracts/error.ts";
import { isMap, type JsonMap, seal, type UnknownMap } from "../contracts/json.ts";
import type { Step } from "./step.ts";

/** The failure of a runner or callback that threw. */
export function failureOf(thrown: unknown, turn: number): JsonMap {
  const type = thrown instanceof Error ? thrown.name || "Error" : "Error";
  return seal({
    type,
    message: errorMessage(thrown) || "It failed without a message.",
    code: codeOf(thrown),
    turn_count: turn,
  });
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

/** The error's own code, or the HTTP status that provider clients put on theirs. */
function codeOf(thrown: unknown): string {
  if (!isMap(thrown)) return "";
  const code = thrown.code ?? thrown.statusCode ?? thrown.status;
  return typeof code === "string" || typeof code === "number" ? String(code) : "";
}
