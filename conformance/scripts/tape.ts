// What scripted callbacks remember, as plain JSON, so that a test can stop a run, put the tape back to where the log ends,
// and go on.
import { isMap } from "../../src/contracts/json.ts";

/** How far each script was played, and what was seen while playing. */
export type Tape = { positions: Record<string, number>; seen: Record<string, unknown[]> };

export type Player = {
  /** Takes down what a callback was given. */
  see(list: string, entry: unknown): void;
  /** How often this was asked before. */
  count(name: string): number;
  /** The next entry of a script, or `after` once it has ended; an entry that throws is thrown. */
  play<Entry>(name: string, entries: readonly Entry[], after: Entry | undefined): Entry | undefined;
  tape(): Tape;
  rewind(to: Tape): void;
};

export function createPlayer(): Player {
  let tape: Tape = { positions: {}, seen: { events: [] } };

  function count(name: string): number {
    const before = tape.positions[name] ?? 0;
    tape.positions[name] = before + 1;
    return before;
  }

  return {
    see(list, entry) {
      tape.seen[list] = [...(tape.seen[list] ?? []), entry];
    },
    count,
    play(name, entries, after) {
      const position = count(name);
      const entry = position < entries.length ? entries[position] : after;
      if (isMap(entry) && typeof entry.throws === "string") {
        throw Object.assign(new Error(entry.throws), entry.throw_code !== undefined && { code: entry.throw_code });
      }
      return entry;
    },
    tape: () => structuredClone(tape),
    rewind(to) {
      tape = structuredClone(to);
    },
  };
}
