// Threads whose history a test writes itself: attempts at models that came to an answer, without any model.
import { aCommit } from "../src/backend/contract/a-commit.ts";
import { heldThread } from "../src/backend/contract/stores-in-test.ts";
import type { Stores } from "../src/backend/stores.ts";
import type { NewThread } from "../src/backend/thread-store.ts";
import { packRecords } from "../src/loop/packed-records.ts";
import type { Fact, LogRecord } from "../src/loop/records.ts";

/** One attempt at a model: how many tokens it took, and what it cost in billionths of a dollar. */
export type LoggedAttempt = { readonly model: string; readonly tokens: number; readonly nanodollars: number };

/** A thread on which those attempts were made, one after another. */
export async function loggedThread(
  stores: Stores,
  attempts: readonly LoggedAttempt[],
  parts: Partial<NewThread> = {},
): Promise<string> {
  const held = await heldThread(stores, parts);
  let seq = 0;
  let record = 0;
  async function commit(facts: readonly Fact[], notes: string | null): Promise<void> {
    const records = facts.map((fact) => {
      const number = record++;
      return { seq: number, at: 100 * number, fact, to: "turn.model", wrote: null, tallies: null } satisfies LogRecord;
    });
    await stores.threads.commit(aCommit(held, { seq: seq++, event: { records: packRecords(records), notes } }));
  }
  for (const { model, tokens, nanodollars } of attempts) {
    await commit([{ type: "begun", effect: { kind: "call_model" } }], null);
    const usage = { prompt_tokens: tokens - 1, completion_tokens: 1, total_tokens: tokens };
    const notes = JSON.stringify([{ type: "model_call", metadata: { model, usage } }]);
    await commit([{ type: "model.responded", spent: { tokens, nanodollars } }], notes);
  }
  return held.id;
}
