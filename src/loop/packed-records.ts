// The records of one commit as the text that is stored: what they have in common is written once, and what is not there
// is left out. A log is most of what a thread takes up on disk.
import type { JsonMap } from "../contracts/json.ts";
import type { Tally } from "../contracts/tools/call-gate.ts";
import type { Fact, LogRecord, Position, Range } from "./records.ts";

/** `facts` are `[type, to, fields?, wrote?, tallies?]`; `seq` and `at` are those of the first record. */
type Packed = { readonly seq: number; readonly at: number; readonly facts: readonly PackedFact[] };

type PackedFact = [
  type: Fact["type"],
  to: Position,
  fields?: object | 0,
  wrote?: Range | 0,
  tallies?: readonly Tally[] | 0,
  /** Milliseconds after the first record. */
  later?: number,
];

/** What happened to a thread between its runs, and who had it happen, where the door knew that. */
export type ThreadFact =
  | { readonly type: "messages.erased"; readonly messages: number; readonly by: JsonMap | null }
  /** An operator has said what a call did. */
  | { readonly type: "operator.settled"; readonly run: number; readonly call: number; readonly by: JsonMap | null };

/** `own`: facts about the thread, where the machine has made no step. */
export function packRecords(records: readonly LogRecord[], own: readonly ThreadFact[] = []): string {
  const [first] = records;
  if (!first) return JSON.stringify(own.map((fact) => ({ fact })));
  if (own.length > 0) throw new Error("What happens between two runs is no part of a run.");
  const facts = records.map((record) => pack(record, first.at));
  return JSON.stringify({ seq: first.seq, at: first.at, facts } satisfies Packed);
}

function pack({ fact, to, wrote, tallies, at }: LogRecord, since: number): PackedFact {
  const { type, ...fields } = fact;
  const packed: PackedFact = [type, to, hasFields(fields) ? fields : 0, wrote ?? 0, tallies ?? 0, at - since];
  while (packed.at(-1) === 0) packed.pop();
  return packed;
}

function hasFields(fields: object): boolean {
  for (const _ in fields) return true;
  return false;
}

/** A list is stored as it is: it holds facts about the thread that are no step of the machine. */
export function unpackRecords(text: string): readonly LogRecord[] {
  const stored = JSON.parse(text) as Packed | LogRecord[];
  if (Array.isArray(stored)) return stored;
  const { seq, at, facts } = stored as Packed;
  return facts.map(([type, to, fields, wrote, tallies, later = 0], index) => ({
    seq: seq + index,
    at: at + later,
    fact: { type, ...(fields || {}) } as Fact,
    to,
    wrote: wrote || null,
    tallies: tallies || null,
  }));
}
