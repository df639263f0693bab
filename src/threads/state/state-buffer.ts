// Where what code writes through a thread's state goes: kept for the commit of the call, hook or effect that it belongs to,
// or stored at once where nothing of the kind is under way.
import type { NewEntry } from "../../backend/inbox.ts";
import type { Write } from "../../backend/write.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { Json } from "../../contracts/json.ts";
import type { Control } from "../../contracts/standard/control.ts";

export interface StateBuffer {
  /** What was written and is not stored yet, in order: whoever reads lays it over what is stored. */
  readonly writes: readonly Write[];
  /** What was left in the thread's own inbox and is not stored yet. */
  readonly entries: readonly NewEntry[];
  write(...writes: readonly Write[]): Promise<void>;
  /** Leaves something in the thread's own inbox. */
  leave(entry: NewEntry): Promise<void>;
  /** Takes back what was left and is not stored yet; false when there is no such entry. */
  takeBack(entryId: string): boolean;
  /** Tells whoever follows the thread. */
  emit(event: string, data: Json): void;
  /** Asks something of the run; throws `no_run` where there is none. */
  ask(control: Control): void;
  /** Where what is written through the state of another thread goes from here. */
  of(threadId: string): StateBuffer;
}

/** What one call, hook or effect writes. */
export class KeptWrites implements StateBuffer {
  readonly writes: Write[] = [];
  readonly entries: NewEntry[] = [];
  readonly events: { readonly event: string; readonly data: Json }[] = [];
  control: Control = {};
  readonly #hasRun: boolean;

  constructor({ hasRun }: { hasRun: boolean }) {
    this.#hasRun = hasRun;
  }

  async write(...writes: readonly Write[]): Promise<void> {
    this.writes.push(...writes);
  }

  async leave(entry: NewEntry): Promise<void> {
    this.entries.push(entry);
  }

  takeBack(entryId: string): boolean {
    const index = this.entries.findIndex(({ id }) => id === entryId);
    if (index >= 0) this.entries.splice(index, 1);
    return index >= 0;
  }

  emit(event: string, data: Json): void {
    this.events.push({ event, data });
  }

  ask(control: Control): void {
    if (!this.#hasRun) throw noRun();
    this.control = { ...this.control, ...control };
  }

  of(threadId: string): StateBuffer {
    return keptFor(this, threadId);
  }
}

/** What is written to another thread goes into the same commit as what is written to the own one. */
function keptFor(kept: KeptWrites, threadId: string): StateBuffer {
  const entryIn = (write: Write) => (write.write === "entry" && write.thread_id === threadId ? write.entry : undefined);
  return {
    writes: kept.writes,
    get entries() {
      return kept.writes.map(entryIn).filter((entry) => entry !== undefined);
    },
    write: (...writes) => kept.write(...writes),
    leave: (entry) => kept.write({ write: "entry", thread_id: threadId, entry }),
    takeBack(entryId) {
      const index = kept.writes.findIndex((write) => entryIn(write)?.id === entryId);
      if (index >= 0) kept.writes.splice(index, 1);
      return index >= 0;
    },
    // Events belong to the commits of the thread that they are about, and this is another one's.
    emit: () => undefined,
    ask() {
      throw noRun();
    },
    of: (otherId) => keptFor(kept, otherId),
  };
}

export function noRun() {
  return holdfastError("no_run", "No run of this thread is under way here.");
}
