// What waits for a run at the beginning of a turn: offered to the machine, and taken from the inbox once it has taken it.
import type { Inbox } from "../loop/next.ts";
import type { Batch } from "./batch.ts";
import { drain, readEntry } from "./entries.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Sealing } from "./sealing.ts";

export class InboxOffer {
  readonly #sealing: Sealing;
  #seqs: readonly number[] = [];
  #messages = 0;
  #calls = 0;

  constructor(sealing: Sealing) {
    this.#sealing = sealing;
  }

  /** What came while an effect went on belongs into the next request too; what the run's own tools have just queued comes last. */
  async make(held: HeldThread, batch: Batch): Promise<Inbox> {
    try {
      if (held.mayHaveNews) await held.readInbox();
    } catch {
      // The database is away for a moment; the commit waits for it, and what came is taken in with the next turn.
    }
    const taken = new Set(batch.drained);
    const waiting = held.entries.filter(({ seq }) => !taken.has(seq));
    // Not stored yet, so without a number: they are in the inbox only if they stay there.
    const queued = batch.queued.map(({ kind, body }, index) => readEntry({ seq: -1 - index, kind, body }));
    const { seqs, messages, tools } = drain([...waiting, ...queued]);
    const calls = tools.map((sealed) => JSON.parse(this.#sealing.open(sealed, held.id)));
    this.#seqs = seqs;
    this.#messages = messages.length;
    this.#calls = calls.length;
    // Of nothing the machine writes nothing down, so what only asks the thread to go on is taken here.
    if (messages.length + calls.length === 0) this.take(batch, { messages: 0, calls: 0 });
    return { messages, calls };
  }

  /** An entry counts as taken only when the machine has taken it. */
  take(batch: Batch, taken: { readonly messages: number; readonly calls: number }): void {
    if (taken.messages !== this.#messages || taken.calls !== this.#calls) {
      throw new Error("What waits in the inbox cannot be read.");
    }
    batch.drained.push(...this.#seqs.filter((seq) => seq >= 0));
    batch.queued.splice(0, this.#seqs.filter((seq) => seq < 0).length);
  }
}
