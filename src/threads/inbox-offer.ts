// What waits for a run at the beginning of a turn: offered to the machine, and taken from the inbox once it has taken it.
import type { Message } from "../contracts/conversation/message.ts";
import type { Inbox } from "../loop/next.ts";
import type { Batch } from "./batch.ts";
import { drain, readEntry } from "./entries.ts";
import type { HeldThread } from "./held-thread.ts";
import { beforeCreate } from "./hooks/message-hooks.ts";
import type { Host } from "./host.ts";
import { keptRequest } from "./requests/awaited-request.ts";
import type { ThreadRun } from "./thread-run.ts";

export class InboxOffer {
  readonly #host: Host;
  #seqs: readonly number[] = [];
  #messages = 0;
  #calls = 0;
  #awaited: string | null = null;
  #threadId = "";
  /** The messages that somebody is to act on; others only join the history. */
  asking: readonly Message[] = [];

  constructor(host: Host) {
    this.#host = host;
  }

  /** What came while an effect went on belongs into the next request too; what the run's own tools have just queued comes last. */
  async make(held: HeldThread, batch: Batch, run: ThreadRun): Promise<Inbox> {
    try {
      if (held.mayHaveNews) await held.readInbox();
    } catch {
      // The database is away for a moment; the commit waits for it, and what came is taken in with the next turn.
    }
    const taken = new Set(batch.drained);
    const waiting = held.entries.filter(({ seq }) => !taken.has(seq));
    // Not stored yet, so without a number: they are in the inbox only if they stay there.
    const queued = batch.queued.map(({ kind, body }, index) => readEntry({ seq: -1 - index, kind, body }));
    const { seqs, messages: arrived, asking, tools, awaited } = drain([...waiting, ...queued]);
    this.#awaited = awaited;
    this.asking = asking;
    this.#threadId = held.id;
    const messages: Message[] = [];
    // Hooks have seen what was injected when that was left.
    for (const each of arrived) {
      messages.push(asking.includes(each) ? await beforeCreate(this.#host, held, run, each) : each);
    }
    const calls = tools.map((sealed) => JSON.parse(this.#host.sealing.open(sealed, held.id)));
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
    if (this.#awaited !== null) batch.writes.push(keptRequest(this.#threadId, this.#awaited));
    const own = new Set(this.#seqs.filter((seq) => seq < 0).map((seq) => -1 - seq));
    const left = batch.queued.filter((_, index) => !own.has(index));
    batch.queued.splice(0, batch.queued.length, ...left);
  }
}
