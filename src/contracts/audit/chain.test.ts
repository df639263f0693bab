import { describe, expect, it } from "vitest";
import { sha256 } from "../canonical-json.ts";
import { canonicalText } from "./canonical-text.ts";
import { contentHash, firstHash, type Link, nextHash, notesHash } from "./chain.ts";
import { leafHash, merkleRoot } from "./merkle.ts";

const link: Link = {
  ...{ seq: 1, run: 1, step: 2, records: "[]", notes_hash: null, messages_from: 3, messages: ["a", "b"] },
  ...{ tail_from: 0, summary_seq: null, settled: true },
};

const content = { kind: "message", supersedes: null, depth: 0, parent_seq: null, salt: "salt", envelope: "{}" };

describe("the chain", () => {
  it("has another hash for every other value of every field", () => {
    const others: readonly Partial<Link>[] = [
      ...[{ seq: 2 }, { run: 0 }, { step: 3 }, { records: "[ ]" }, { notes_hash: "" }, { messages_from: 2 }],
      ...[{ messages: ["b", "a"] }, { messages: ["a,b"] }, { messages: ["ab"] }, { messages: [] }],
      ...[{ tail_from: 1 }, { summary_seq: 0 }, { settled: false }],
    ];
    const hashes = others.map((other) => nextHash("before", { ...link, ...other }));
    expect(new Set([...hashes, nextHash("before", link), nextHash("other", link)]).size).toBe(others.length + 2);
  });

  it("begins in another way for every thread", () => {
    expect(firstHash("a")).not.toBe(firstHash("b"));
  });

  it("covers all of a message, and tells half a letter from the sign for one", () => {
    const others = [
      ...[{ kind: "edit" }, { supersedes: 0 }, { depth: 1 }, { parent_seq: 0 }, { salt: "" }],
      ...[{ envelope: "{ }" }, { envelope: "\ud800" }, { envelope: "\ufffd" }],
    ];
    const hashes = others.map((other) => contentHash({ ...content, ...other }));
    expect(new Set([...hashes, contentHash(content)]).size).toBe(others.length + 1);
  });

  it("says nothing of notes without their salt", () => {
    expect(notesHash("salt", "[]")).not.toBe(notesHash("other", "[]"));
  });

  // What is stored must verify for ever, and for others who write their own: this is all there is to it.
  it("is made of the canonical JSON of what it covers", () => {
    const hashOf = (holdfast: string, covered: object) => sha256(canonicalText({ ...covered, holdfast }));
    expect(firstHash("a thread")).toBe(hashOf("thread", { thread: "a thread" }));
    expect(nextHash("before", link)).toBe(hashOf("event", { ...link, previous: "before" }));
    expect(contentHash(content)).toBe(hashOf("message", content));
    expect(notesHash("salt", "[]")).toBe(hashOf("notes", { salt: "salt", notes: "[]" }));
    const head = { thread: "a thread", seq: 0, hash: "hash" };
    expect(leafHash(head)).toBe(hashOf("leaf", head));
    expect(merkleRoot(["left", "right"])).toBe(hashOf("node", { right: "right", left: "left" }));
  });
});
