import { describe, expect, it } from "vitest";
import { inShort } from "../../test/held.ts";
import type { StoredMessage } from "../backend/thread-rows.ts";
import type { Message } from "../contracts/conversation/message.ts";
import * as message from "../contracts/conversation/message.ts";
import { readTranscript } from "./transcript.ts";

const user = (text: string) => message.text("user", text);
const call = (id: string, tool_name = "peek") =>
  message.toolCall({ tool_name, parameters: {}, turn: 1, metadata: { tool_call_id: id } });
const result = (id: string, said: string, tool_name = "peek") =>
  message.toolResult({
    content: said,
    tool_name,
    payload: { success: true, result: said, tool_name },
    metadata: { tool_call_id: id },
  });

type Written = Message | { readonly edits: number; readonly to: Message } | { readonly deletes: number };

/** Rows as they are stored, one after another. */
function rows(...written: readonly Written[]): readonly StoredMessage[] {
  const row = (seq: number, kind: StoredMessage["kind"], supersedes: number | null, envelope: Message | null) => ({
    ...{ thread_id: "t", seq, kind, supersedes, envelope: JSON.stringify(envelope) },
    ...{ run: 1, step: 0, salt: "", hash: "", created_at: 0 },
  });
  return written.map((each, seq) => {
    if ("edits" in each) return row(seq, "edit", each.edits, each.to);
    if ("deletes" in each) return row(seq, "deletion", each.deletes, null);
    return row(seq, "message", null, each);
  }) as unknown as readonly StoredMessage[];
}

function shown(...written: readonly Written[]) {
  const { messages, seqs } = readTranscript(rows(...written));
  return { lines: inShort(messages), seqs };
}

describe("a transcript that was changed", () => {
  it("keeps a call that is open, whatever else was changed", () => {
    const open = [user("one"), user("two"), call("a")];
    for (const change of [{ edits: 0, to: user("first") }, { deletes: 1 }]) {
      expect(shown(...open, change).lines.at(-1)).toBe("call peek");
    }
  });

  it("shows the last version of a message in its old place", () => {
    expect(shown(user("one"), user("two"), { edits: 0, to: user("1") }, { edits: 0, to: user("first") })).toEqual({
      lines: ["user: first", "user: two"],
      seqs: [0, 1],
    });
  });

  it.each([
    ["the call", 0],
    ["the result", 1],
  ])("leaves out both of a call and its result when one was deleted: %s", (_which, deletes) => {
    expect(shown(call("a"), result("a", "seen"), user("two"), { deletes })).toEqual({
      lines: ["user: two"],
      seqs: [2],
    });
  });

  it("leaves out the other half of one that was replaced by words, and keeps the words", () => {
    const pair = [call("a"), result("a", "seen")];
    expect(shown(...pair, { edits: 1, to: user("It was there.") }).lines).toEqual(["user: It was there."]);
    expect(shown(...pair, { edits: 0, to: user("Look.") }).lines).toEqual(["user: Look."]);
  });

  it("keeps both where a result was replaced by another", () => {
    const pair = [call("a"), result("a", "unknown")];
    expect(shown(...pair, { edits: 1, to: result("a", "seen") }).lines).toEqual(["call peek", 'result peek: "seen"']);
  });

  it("pairs calls and results in order where ids are used again", () => {
    const twice = [call("a"), result("a", "first"), call("a"), result("a", "second"), call("a")];
    expect(shown(...twice, { deletes: 1 })).toEqual({
      lines: ["call peek", 'result peek: "second"', "call peek"],
      seqs: [2, 3, 4],
    });
  });
});
