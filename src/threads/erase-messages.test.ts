import { describe, expect, it } from "vitest";
import type { StoredRequest } from "../backend/request-store.ts";
import type { MessageKind, StoredCall, StoredMessage } from "../backend/thread-rows.ts";
import { messagesToErase, requestsFor } from "./erase-messages.ts";

type Parts = Partial<Pick<StoredMessage, "kind" | "supersedes" | "depth" | "parent_seq" | "salt">>;

const row = (type: string, id: string | null, parts: Parts = {}) => ({ type, id, parts });
const words = (parts: Parts = {}) => row("text", null, parts);
const call = (id: string, parts: Parts = {}) => row("tool_call", id, parts);
const result = (id: string, parts: Parts = {}) => row("tool_result", id, parts);

function rowsOf(given: readonly ReturnType<typeof row>[]): readonly StoredMessage[] {
  return given.map(({ type, id, parts }, seq) => {
    const metadata = id === null ? {} : { tool_call_id: id };
    const whole = { schema: "agents-api.message", version: 1, role: "assistant", payload: {} };
    const envelope = JSON.stringify({ ...whole, type, content: "", metadata });
    const kind: MessageKind = "message";
    const place = { seq, run: 1, step: 0, kind, supersedes: null, depth: 0, parent_seq: null };
    return { ...place, envelope, salt: "salt", hash: "", at: 0, ...parts };
  });
}

const erased = (
  given: readonly ReturnType<typeof row>[],
  which: Parameters<typeof messagesToErase>[1],
  tailFrom = 0,
): readonly number[] => messagesToErase(rowsOf(given), which, tailFrom).map(({ seq }) => seq);

describe("what is erased with a message", () => {
  it("is nothing, for words alone", () => {
    expect(erased([words(), words(), words()], { seq: 1 })).toEqual([1]);
    expect(erased([words(), words(), words()], { before: 2 })).toEqual([0, 1]);
    expect(erased([words()], { seq: 7 })).toEqual([]);
  });

  it("is the other half of a call, and not one of another call with the same id", () => {
    const twice = [call("a"), result("a"), words(), call("a"), result("a")];
    expect(erased(twice, { seq: 1 })).toEqual([0, 1]);
    expect(erased(twice, { seq: 3 })).toEqual([3, 4]);
    expect(erased(twice, { before: 1 })).toEqual([0, 1]);
  });

  it("is all that prompts have said for a call, however deep", () => {
    const deep = { depth: 1, parent_seq: 0 };
    const given = [call("a"), words(deep), call("b", deep), words({ depth: 2, parent_seq: 2 }), result("b", deep)];
    expect(erased([...given, result("a"), words()], { seq: 5 })).toEqual([0, 1, 2, 3, 4, 5]);
    expect(erased([...given, result("a"), words()], { seq: 2 })).toEqual([2, 3, 4]);
  });

  it("is every summary that was made later, once one stands for it", () => {
    const given = [words(), words(), words({ kind: "summary" }), words(), words({ kind: "summary" })];
    expect(erased(given, { seq: 0 }, 1)).toEqual([0, 2, 4]);
    expect(erased(given, { seq: 3 }, 3)).toEqual([3]);
  });

  it("is not what is gone already, unless it was written anew", () => {
    const gone = words({ salt: "" });
    const deletion = words({ kind: "deletion", supersedes: 0 });
    expect(erased([gone, deletion], { seq: 0 })).toEqual([]);
    expect(erased([gone, deletion, words({ kind: "edit", supersedes: 0 })], { seq: 0 })).toEqual([0]);
    expect(erased([words(), deletion], { seq: 0 })).toEqual([0]);
  });
});

describe("how much may be erased at once", () => {
  it("is as much as there is", () => {
    const many = 150_000;
    expect(
      erased(
        Array.from({ length: many }, () => words()),
        { before: many },
      ),
    ).toHaveLength(many);
  });
});

describe("what was asked for calls that are erased", () => {
  const asked = (id: string, run: number, call: number, shown: object) =>
    ({ id, run, call, shown: JSON.stringify(shown) }) as StoredRequest;
  const begun = (run: number, number: number, message_seq: number | null) =>
    ({ run, number, message_seq }) as StoredCall;
  const gone = rowsOf([call("a"), result("a")]);

  it("is found by the message that tells what came of the call", () => {
    const requests = [asked("own", 1, 0, { tool_call_id: "a" }), asked("later", 1, 1, { tool_call_id: "a" })];
    const calls = [begun(1, 0, 1), begun(1, 1, 7)];
    expect(requestsFor(gone, { calls, requests })).toEqual(["own"]);
  });

  it("is found by what it shows where the call was never begun, or nothing came of it yet", () => {
    const requests = [
      ...[asked("own", 1, 0, { tool_call_id: "a" }), asked("other", 1, 1, { tool_call_id: "b" })],
      ...[asked("of another run", 2, 0, { tool_call_id: "a" }), asked("of no call", 1, 3, {})],
      asked("open", 1, 2, { tool_call_id: "a" }),
    ];
    expect(requestsFor(gone, { calls: [begun(1, 2, null)], requests })).toEqual(["own", "open"]);
    expect(requestsFor(rowsOf([words()]), { calls: [], requests })).toEqual([]);
  });
});
