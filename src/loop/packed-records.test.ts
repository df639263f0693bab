import { describe, expect, it } from "vitest";
import { packRecords, unpackRecords } from "./packed-records.ts";
import type { LogRecord } from "./records.ts";

const records: readonly LogRecord[] = [
  { seq: 7, at: 1_000, fact: { type: "model.responded" }, to: "turn.accept", wrote: null, tallies: null },
  { seq: 8, at: 1_000, fact: { type: "call.opened", call: 3 }, to: "call.run", wrote: [4, 5], tallies: null },
  { seq: 9, at: 1_005, fact: { type: "batch.ended", complete: false }, to: "turn.verdict", wrote: null, tallies: [] },
  { seq: 10, at: 1_009, fact: { type: "flow.ended" }, to: "ended", wrote: null, tallies: null },
];

describe("packed records", () => {
  it("are the same records when they are unpacked", () => {
    expect(unpackRecords(packRecords(records))).toEqual(records);
    expect(unpackRecords(packRecords([]))).toEqual([]);
  });

  it("say what they have in common once, and nothing of what is not there", () => {
    expect(JSON.parse(packRecords(records))).toEqual({
      seq: 7,
      at: 1_000,
      facts: [
        ["model.responded", "turn.accept"],
        ["call.opened", "call.run", { call: 3 }, [4, 5]],
        ["batch.ended", "turn.verdict", { complete: false }, 0, [], 5],
        ["flow.ended", "ended", 0, 0, 0, 9],
      ],
    });
  });

  it("are read as they are where they are a list", () => {
    const forked = [{ fact: { type: "forked", from: "a", at_seq: 3 } }];
    expect(unpackRecords(JSON.stringify(forked))).toEqual(forked);
  });
});
