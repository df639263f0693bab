import { expect, it } from "vitest";
import * as runOutcome from "./run-outcome.ts";

it("never calls a run completed that could not lock its transcript", () => {
  const result = { status: "transcript_lock_contention" };
  const expected = {
    status: "incomplete",
    completed: false,
    stop_reason: "transcript_lock_contention",
    retryable: false,
  };
  expect(runOutcome.normalize(undefined, result)).toMatchObject(expected);
  expect(runOutcome.normalize({ status: "completed", stop_reason: "natural" }, result)).toMatchObject(expected);
  expect(runOutcome.runControlStatus(result)).toBe("running");
});

it("keeps a status other than completed that was given beside lock contention", () => {
  const result = { status: "transcript_lock_contention" };
  expect(runOutcome.normalize({ status: "Cancelled" }, result)).toMatchObject({
    status: "cancelled",
    completed: false,
    stop_reason: "transcript_lock_contention",
    retryable: false,
  });
  expect(runOutcome.normalize({ status: "unknown" }, result).status).toBe("incomplete");
});

it("never says completed of a run that is said not to be, even if its status does", () => {
  const result = { completed: false };
  expect(runOutcome.normalize({ status: "completed" }, result)).toMatchObject({
    status: "completed",
    completed: false,
  });
  expect(runOutcome.normalize({ status: "completed", completed: null }, {}).completed).toBe(false);
  expect(runOutcome.normalize({ status: "completed", completed: true }, result).completed).toBe(true);
});

it("takes a null that is given for whether to retry as a no", () => {
  expect(runOutcome.normalize({}, { status: "failed" }).retryable).toBe(true);
  expect(runOutcome.normalize({ retryable: null }, { status: "failed" }).retryable).toBe(false);
  expect(runOutcome.normalize({ retryable: false }, { status: "failed" }).retryable).toBe(false);
});

it("calls no end natural that is said not to be complete", () => {
  const stated = { status: "completed", completed: false };
  expect(runOutcome.normalize(stated, {}).stop_reason).toBe("completed");
  expect(runOutcome.normalize(stated, { status: " Paused " }).stop_reason).toBe("paused");
  expect(runOutcome.normalize({ ...stated, completed: true }, { status: "paused" }).stop_reason).toBe("natural");
});

it("reads the status and the budget of a result however they are written", () => {
  const spent = { status: " Budget_Exceeded", budget: "TURNS " };
  expect(runOutcome.normalize(undefined, spent)).toMatchObject({
    status: "budget_exceeded",
    stop_reason: "max_turns",
    retryable: true,
  });
  expect(runOutcome.runControlStatus({ status: " FAILED " })).toBe("failed");
  expect(runOutcome.normalize(undefined, { status: " Transcript_Lock_Contention " }).status).toBe("incomplete");
});

it("keeps an empty map that was given, and looks no further", () => {
  const result = { failure: { type: "quota", message: "over" } };
  expect(runOutcome.normalize({ failure: {}, provider_error: [], assertions: [], metadata: {} }, result)).toMatchObject(
    { failure: {}, provider_error: {}, assertions: {}, metadata: {} },
  );
});

it("takes an empty list for the empty map", () => {
  expect(runOutcome.normalize([], [])).toEqual(runOutcome.normalize({}, {}));
  expect(runOutcome.runControlStatus([])).toBe(runOutcome.runControlStatus({}));
});

it("gives the same outcome when it reads its own again", () => {
  const result = { status: "budget_exceeded", budget: "turns", completed: false };
  const outcome = runOutcome.normalize(undefined, result);
  expect(runOutcome.normalize(outcome, result)).toEqual(outcome);
});

it("takes an unknown status for the stop reason of a run that did not complete", () => {
  expect(runOutcome.normalize(undefined, { status: "paused", completed: false })).toMatchObject({
    status: "incomplete",
    stop_reason: "paused",
  });
});

it("keeps a failure as the provider's error only when the provider was the reason", () => {
  const result = { failure: { type: "quota", message: "over" } };
  expect(runOutcome.normalize(undefined, result).provider_error).toEqual(result.failure);
  expect(runOutcome.normalize({ stop_reason: "Host_Stop" }, result)).not.toHaveProperty("provider_error");
});

it("ignores an outcome that is not a map, and fields of it that are not", () => {
  expect(runOutcome.normalize("x", {}).status).toBe("completed");
  expect(runOutcome.normalize({ metadata: [1], assertions: "x" }, {})).not.toHaveProperty("metadata");
});
