// Changes of messages that were said: nothing is rewritten, what replaces them is left for the thread.
import type { NewEntry } from "../backend/inbox.ts";
import type { StoredMessage } from "../backend/thread-rows.ts";
import type { Message } from "../contracts/conversation/message.ts";
import * as message from "../contracts/conversation/message.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { checkNumber } from "./check-arguments.ts";
import { editedMessage } from "./edited-message.ts";
import type { Host } from "./host.ts";
import type { Entries } from "./leave-entries.ts";
import { createEntry, readMessage } from "./new-entry.ts";
import type { MessageInput } from "./tool.ts";

export type Keyed = {
  /** Makes a repeat of the same write the same write; another write under it is refused. */
  readonly key?: string;
};

type Named = {
  /** Who wants it: kept in the log, for good. */
  readonly principal?: UnknownMap;
};

export interface MessageChanges {
  /**
   * Replaces a message by another version, once no run is under way. A text, or `{ content }`, is the same message in other
   * words: who said it stays, and what is known of it. With a role it is another message in the old one's place.
   */
  editMessage(seq: number, content: string | MessageInput, options?: Keyed): Promise<void>;
  /** Takes a message out of what models are shown, once no run is under way; a call goes with its result. */
  deleteMessage(seq: number, options?: Keyed): Promise<void>;
  /**
   * Deletes a message and has its content go for good, in all its versions, with the notes that were written beside it and
   * with every summary that stands for it. That it was erased stays, and the audit still holds. What is copied elsewhere
   * (forks, children, files, other messages that quote it) is not touched.
   */
  eraseMessage(seq: number, options?: Keyed & Named): Promise<void>;
  /** The same for all messages that are there now, or for those before one. */
  eraseMessages(which: { readonly before: number } | { readonly all: true }, options?: Keyed & Named): Promise<void>;
}

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
