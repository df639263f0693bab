import { expect, it } from "vitest";
import type { StoredCall } from "../../backend/thread-rows.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { packRecords } from "../../loop/packed-records.ts";
import type { Fact } from "../../loop/records.ts";
import { foldLogs } from "./fold-logs.ts";

type Commit = { readonly facts: readonly Fact[]; readonly notes?: readonly JsonMap[]; readonly messages?: number };

const asks: Fact = { type: "begun", effect: { kind: "call_model" } };
const answers: Fact = { type: "model.responded" };
const accepted: Fact = { type: "model.accepted", calls: 0 };
const answered = (metadata: JsonMap = {}): JsonMap => ({
  type: "model_call",
  metadata: { model: "openai/gpt-5", prompt: "desk", side: "a", finish_reason: "stop", ttft_ms: 12, ...metadata },
});
const failed = (metadata: JsonMap = {}): JsonMap => ({
  type: "model_failed",
  metadata: { model: "openai/gpt-5", error: "Overloaded", code: "model_unavailable", ...metadata },
});

/** Commits of one run, a second apart, each with as many messages as it says. */
function history(...commits: readonly Commit[]) {
  let record = 0;
  let message = 0;
  return commits.map(({ facts, notes, messages = 0 }, seq) => {
    const at = 1_000 * seq;
    const records = facts.map((fact) => ({
      ...{ seq: record++, at, fact, to: "turn.model", wrote: null, tallies: null },
    }));
    const messages_from = message;
    message += messages;
    return {
      ...{ seq, run: 1, at: at * 1_000, messages_from, messages_to: message },
      records: packRecords(records as Parameters<typeof packRecords>[0]),
      notes: notes ? JSON.stringify(notes) : null,
    };
  });
}

function call(number: number, about: Partial<StoredCall> = {}): StoredCall {
  return {
    ...{ thread_id: "t", run: 1, number, tool_call_id: `c${number}`, tool_name: "shop/peek", phase: "settled" },
    ...{ idempotency_key: "k", arguments_hmac: "h", epoch: 1, begun_at: 0, certain_at: 0 },
    ...{ outcome: "success", message_seq: 4, settled_at: 30_000 },
    ...about,
  } as StoredCall;
}

it("tells of an attempt before anything has come back", () => {
  expect(foldLogs("t", history({ facts: [{ type: "turn.started", turn: 1 }, asks] }), [])).toEqual([
    expect.objectContaining({ id: "t:0:1", kind: null, is_complete: false, error_type: null, latency_ms: null }),
  ]);
});

it("tells what an answer was, how long it took, and what it cost", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cached_tokens: 4 };
  const events = history(
    { facts: [asks], messages: 2 },
    {
      facts: [{ ...answers, spent: { tokens: 15, nanodollars: 3_000_000 } } as Fact, accepted],
      notes: [{ type: "tool_audit", metadata: {} }, answered({ usage })],
      messages: 1,
    },
  );

  expect(foldLogs("t", events, [])).toEqual([
    {
      ...{ id: "t:0:0", kind: null, message_id: "2", model: "openai/gpt-5", prompt_name: "desk", side: "a" },
      ...{ input_tokens: 10, cached_tokens: 4, output_tokens: 5, reasoning_tokens: null, total_tokens: 15 },
      ...{ cost_total: 0.003, latency_ms: 1_000, time_to_first_token_ms: 12, finish_reason: "stop" },
      ...{ error: null, error_type: null, error_origin: null, tools_called: [], parent_log_id: null },
      ...{ retry_of_log_id: null, is_complete: true, created_at: 0 },
    },
  ]);
});

it("has a row for every attempt, each of which points to the one before", () => {
  const events = history(
    { facts: [asks] },
    { facts: [{ type: "effect.postponed", until: 5 }], notes: [failed()] },
    { facts: [asks] },
    { facts: [{ type: "effect.postponed", until: 9, model: 1 }], notes: [failed({ error: "Still overloaded" })] },
    { facts: [asks] },
    { facts: [answers, accepted], notes: [answered({ model: "other/small" })], messages: 1 },
    { facts: [asks] },
  );

  const rows = foldLogs("t", events, []);

  expect(
    rows.map(({ id, model, error, error_type, retry_of_log_id }) => [id, model, error, error_type, retry_of_log_id]),
  ).toEqual([
    ["t:0:0", "openai/gpt-5", "Overloaded", "api_error", null],
    ["t:2:2", "openai/gpt-5", "Still overloaded", "api_error", "t:0:0"],
    ["t:4:4", "other/small", null, null, "t:2:2"],
    ["t:6:7", null, null, null, null],
  ]);
  expect(rows[0]?.error_origin).toBe("provider:openai");
});

it("says that every attempt was used up, but only where there was more than one", () => {
  const fails: Fact = { type: "model.failed", as: "thrown" };
  const often = history(
    { facts: [asks] },
    { facts: [{ type: "effect.postponed", until: 5 }], notes: [failed()] },
    { facts: [asks] },
    { facts: [fails], notes: [failed()] },
  );
  const once = history({ facts: [asks] }, { facts: [fails], notes: [failed({ code: "invalid_model_answer" })] });

  expect(foldLogs("t", often, []).map(({ error_type }) => error_type)).toEqual(["api_error", "all_retries_exhausted"]);
  expect(foldLogs("t", once, []).map(({ error_type }) => error_type)).toEqual(["step_execution_error"]);
});

it("takes an answer that says of itself that it failed for a failure", () => {
  const events = history(
    { facts: [asks] },
    { facts: [answers, { type: "model.failed", as: "reported" }], notes: [answered(), failed()] },
  );

  expect(foldLogs("t", events, [])).toEqual([
    expect.objectContaining({ error: "Overloaded", error_type: "api_error" }),
  ]);
});

it("tells an attempt that somebody stopped from one of which nobody saw the end", () => {
  const reserved = { tokens: 900, nanodollars: 2_000 };
  const stopped = history({ facts: [asks] }, { facts: [{ type: "interrupted" }] });
  const lost = history({ facts: [{ ...asks, reserved } as Fact] }, { facts: [{ type: "attempt.lost" }, asks] });

  expect(foldLogs("t", stopped, [])).toEqual([expect.objectContaining({ error_type: "user_interrupted" })]);
  expect(foldLogs("t", lost, [])).toEqual([
    expect.objectContaining({ error_type: "interrupted_incomplete", cost_total: 0.000_002, total_tokens: null }),
    expect.objectContaining({ is_complete: false, retry_of_log_id: "t:0:0" }),
  ]);
});

it("tells of every attempt at one answer of which nobody saw the end, also where nothing is paid for them", () => {
  const again = { type: "model_lost", metadata: { at: 5 } };
  const events = history(
    { facts: [asks] },
    { facts: [], notes: [again] },
    { facts: [], notes: [again] },
    { facts: [answers, accepted], notes: [answered()], messages: 1 },
  );
  const isLate = history({ facts: [asks] }, { facts: [{ type: "attempt.lost" }], notes: [again] });

  const rows = foldLogs("t", events, []);

  expect(rows.map(({ id, error_type, retry_of_log_id }) => [id, error_type, retry_of_log_id])).toEqual([
    ["t:0:0", "interrupted_incomplete", null],
    ["t:1", "interrupted_incomplete", "t:0:0"],
    ["t:2", null, "t:1"],
  ]);
  expect(rows.every(({ is_complete }) => is_complete)).toBe(true);
  expect(foldLogs("t", isLate, [])).toHaveLength(1);
});

it("does not tell of what was never sent", () => {
  const events = history({ facts: [asks, { type: "effect.released" }] }, { facts: [asks] });

  expect(foldLogs("t", events, []).map(({ id }) => id)).toEqual(["t:1:2"]);
});

it("tells of the tools that ran, and whose answer called them", () => {
  const runs = (number: number): Fact => ({ type: "begun", effect: { kind: "run_tool", call: number } });
  const events = history(
    { facts: [asks] },
    { facts: [answers, accepted, runs(0)], notes: [answered()], messages: 2 },
    { facts: [runs(1)] },
  );
  const waiting = {
    tool_name: "shop/buy",
    phase: "begun",
    outcome: null,
    message_seq: null,
    settled_at: null,
  } as const;

  const rows = foldLogs("t", events, [call(0, { outcome: "timeout" }), call(1, waiting)]);

  expect(rows).toMatchObject([
    { kind: null, tools_called: ["shop/peek", "shop/buy"] },
    {
      ...{ kind: "tool_execution", tools_called: ["shop/peek"], parent_log_id: "t:0:0", message_id: "4" },
      ...{ latency_ms: 30, error: "timeout", error_origin: "tool:shop/peek", is_complete: true, side: "a" },
    },
    { kind: "tool_execution", tools_called: ["shop/buy"], error: null, latency_ms: null, is_complete: false },
  ]);
});

it("shows under which attempt a prompt speaks that was called as a tool", () => {
  const events = history(
    { facts: [asks] },
    { facts: [answers, accepted, { type: "frame.pushed", call: 0, prompt: "inner", at: 0, messages: 1 }, asks] },
    { facts: [answers, accepted, { type: "frame.popped", call: 0 }, asks] },
  );

  expect(foldLogs("t", events, []).map(({ parent_log_id }) => parent_log_id)).toEqual([null, "t:0:0", null]);
});

it("shows no key that a provider has repeated", () => {
  const said = "Incorrect API key provided: sk-0123456789abcdef";
  const events = history(
    { facts: [asks] },
    { facts: [{ type: "model.failed", as: "thrown" }], notes: [failed({ error: said })] },
  );

  expect(foldLogs("t", events, [])[0]?.error).toBe("Incorrect API key provided: [redacted]");
});

it("reads nothing into what is no step of the machine", () => {
  const forked = { seq: 0, run: 0, at: 0, messages_from: 0, messages_to: 3, notes: null };
  const records = JSON.stringify([{ fact: { type: "forked", from: "s", at_seq: 2 } }]);

  expect(foldLogs("t", [{ ...forked, records }], [])).toEqual([]);
});
