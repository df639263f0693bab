// Changes of messages that were said: nothing is rewritten, what replaces them is left for the thread.
import type { NewEntry } from "../backend/inbox.ts";
import type { StoredMessage } from "../backend/thread-store.ts";
import type { Message } from "../contracts/conversation/message.ts";
import * as message from "../contracts/conversation/message.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap, snapshotMap } from "../contracts/json.ts";
import { checkNumber } from "./check-arguments.ts";
import { editedMessage } from "./edited-message.ts";
import type { Host } from "./host.ts";
import type { Entries } from "./leave-entries.ts";
import { createEntry, readMessage } from "./new-entry.ts";
import type { ThreadHandle } from "./thread.ts";

type MessageChanges = Pick<ThreadHandle, "editMessage" | "deleteMessage" | "eraseMessage" | "eraseMessages">;

export function messageChanges(host: Host, id: string, entries: Entries): MessageChanges {
  const { threads } = host.stores;

  /** Leaves what changes a message, unless there is none. */
  async function change(seq: number, entry: NewEntry): Promise<void> {
    if (await entries.isRepeat(entry)) return;
    await known(seq);
    await entries.leave(() => entries.put(entry));
  }

  async function known(seq: number): Promise<StoredMessage> {
    const [row] = await threads.messages(id, { from: seq, limit: 1 });
    if (row?.seq !== seq || row.kind !== "message") throw messageNotFound(seq);
    return row;
  }

  async function currentMessage(seq: number): Promise<Message> {
    const first = await known(seq);
    if (await threads.isDeleted(id, seq)) throw messageNotFound(seq);
    const [last] = await threads.currentMessages(id, { after: seq - 1, limit: 1 });
    // What was said within a call is not among those of the thread.
    return message.fromStored((last?.seq === seq ? last : first).envelope);
  }

  function messageNotFound(seq: number) {
    return holdfastError("message_not_found", `Thread "${id}" has no message ${seq}.`);
  }

  return {
    async editMessage(seq, content, options = {}) {
      checkNumber("seq", seq);
      const read = readMessage(content);
      const given = typeof content === "string" ? content : snapshotMap(content);
      const edit = (edited: Message) => createEntry.edit(seq, edited, { key: options.key, given });
      if (await entries.isRepeat(edit(read))) return;
      const edited = editedMessage(await currentMessage(seq), content);
      await entries.leave(() => entries.put(edit(edited)));
    },
    async deleteMessage(seq, options = {}) {
      checkNumber("seq", seq);
      await change(seq, createEntry.deletion(seq, { key: options.key }));
    },
    async eraseMessage(seq, options = {}) {
      checkNumber("seq", seq);
      await change(seq, createEntry.erasure({ seq }, options));
    },
    async eraseMessages(which, options = {}) {
      const asked = checkedBefore(which);
      const before = asked ?? (await entries.status()).next_message;
      // What all there is comes to is another number each time.
      const given = asked === undefined ? { all: true } : { before };
      await entries.leave(() => entries.put(createEntry.erasure({ before }, { ...options, given })));
    },
  };
}

/** The number before which all is to be erased; undefined when it is all there is. What says neither erases nothing. */
function checkedBefore(which: unknown): number | undefined {
  const wanted = isMap(which) ? which : {};
  const names = Object.keys(wanted);
  if (names.length === 1 && wanted.all === true) return undefined;
  if (names.length === 1 && names[0] === "before") {
    checkNumber("before", wanted.before);
    return wanted.before as number;
  }
  throw holdfastError("invalid_argument", "which must be { before: <number> } or { all: true }.");
}
