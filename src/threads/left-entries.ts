// What was left for a thread, by the key that it was left under, and what became of it.
import type { Entry, LeftEntry } from "../backend/inbox.ts";
import { isName } from "../contracts/storable-name.ts";
import type { Host } from "./host.ts";

export interface LeftEntries {
  /** The message that was sent under a key, or without one the last that was sent. */
  sent(key?: string): Promise<LeftEntry | undefined>;
  /** The wish to stop that was left under a key. */
  stop(key: string): Promise<LeftEntry | undefined>;
  /** The run that has taken an entry in; null while none has. */
  takenIn(id: string): Promise<number | null>;
  /** What waits, oldest first. */
  waiting(): Promise<readonly Pick<Entry, "id" | "kind">[]>;
}

export function leftEntries({ stores: { inbox } }: Host, threadId: string): LeftEntries {
  return {
    async sent(key) {
      if (key !== undefined && !isName(key)) return undefined;
      return await inbox.left(threadId, "send", key);
    },
    async stop(key) {
      return isName(key) ? await inbox.left(threadId, "stop", key) : undefined;
    },
    async takenIn(id) {
      return (await inbox.fate(threadId, id))?.run ?? null;
    },
    async waiting() {
      return (await inbox.waiting(threadId)).map(({ id, kind }) => ({ id, kind }));
    },
  };
}
