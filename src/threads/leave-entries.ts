// How anybody leaves something for a thread: the one way into its inbox.
import type { NewEntry } from "../backend/inbox.ts";
import type { Thread } from "../backend/thread-rows.ts";
import { holdfastError } from "../contracts/error.ts";
import type { Host } from "./host.ts";
import { isNobodys, nobodyKnows } from "./nobodys.ts";
import { threadNotFound, threadTerminated } from "./thread-errors.ts";

export interface Entries {
  /** The thread as it is stored now. Throws `thread_not_found`. */
  status(): Promise<Thread>;
  /** Leaves an entry. Throws `idempotency_conflict`, `thread_terminated` and `thread_not_found`. */
  put(entry: NewEntry): Promise<{ id: string }>;
  /** Leaves what somebody has to see to before it means anything. Throws `agent_not_found` when nobody ever will. */
  leave<Left>(entry: () => Promise<Left>): Promise<Left>;
  /** True for what was left before under its key: what it changed may be something else by now, or gone. */
  isRepeat(entry: NewEntry): Promise<boolean>;
}

export function leaveFor(host: Host, { id, agent }: Pick<Thread, "id" | "agent">): Entries {
  const { threads, inbox } = host.stores;

  async function status(): Promise<Thread> {
    const thread = await threads.get(id);
    if (!thread) throw threadNotFound(id);
    return thread;
  }

  return {
    status,
    async put(entry) {
      await host.onCrashPoint(`before put ${entry.kind}`);
      const stored = await inbox.put(id, entry);
      host.news?.add(id);
      switch (stored.outcome) {
        case "stored":
        case "repeated":
          await host.onCrashPoint(`after put ${entry.kind}`);
          return { id: stored.id };
        case "conflicting":
          throw usedBefore(entry);
        case "terminated":
          throw threadTerminated(id, "and takes no more work");
        case "not_found":
          throw threadNotFound(id);
      }
    },
    async leave(entry) {
      // Whom a thread was handed over to meanwhile is known here as well, so it is looked at only when its agent was not.
      if (isNobodys(host, { agent })) {
        const thread = await status();
        if (isNobodys(host, thread)) throw nobodyKnows(thread);
      }
      return await entry();
    },
    async isRepeat(entry) {
      const isKeyed = entry.idempotency_key !== entry.id;
      const first = isKeyed ? await inbox.first(id, entry) : undefined;
      if (first?.outcome === "conflicting") throw usedBefore(entry);
      return first !== undefined;
    },
  };
}

function usedBefore({ idempotency_key }: NewEntry) {
  return holdfastError("idempotency_conflict", `The key "${idempotency_key}" was used before for something else.`);
}
