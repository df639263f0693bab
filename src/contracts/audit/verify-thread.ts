// Whether the chain of one exported thread holds, event by event.
import type { z } from "zod";
import {
  type AuditEvent,
  type AuditMessage,
  type AuditThread,
  auditEventSchema,
  auditMessageSchema,
  auditThreadSchema,
} from "./audit-export.ts";
import { type Broken, check, Found } from "./broken.ts";
import { contentHash, firstHash, nextHash, notesHash } from "./chain.ts";
import { erasureSignature, erasureStatement } from "./erasure.ts";
import type { Checker } from "./signer.ts";

/** The thread that was exported, read and found whole; throws what is `Found`. */
export function verifyThread(given: unknown, key: Checker): { readonly thread: AuditThread; readonly erased: number } {
  const thread = readThread(given);
  const erasedAt = erasuresIn(thread, key);
  const erasedRuns = runsErasedFrom(thread);
  let previous = firstHash(thread.id);
  let messages = 0;
  let erased = 0;
  for (const [seq, event] of thread.events.entries()) {
    const at = (detail: string) => (): Broken => ({ thread: thread.id, place: "event", seq, detail });
    check(event.seq === seq, at(`event ${event.seq} stands where event ${seq} was written`));
    check(event.messages_from === messages, at("its messages do not begin where those before it end"));
    check(event.messages_to >= messages, at("its messages end before they begin"));
    const own = thread.messages.slice(messages, event.messages_to);
    for (const [index, message] of own.entries()) verifyMessage(thread.id, message, messages + index, erasedAt);
    check(own.length === event.messages_to - messages, at("messages that were written with it are missing"));
    const gone = own.filter(({ envelope }) => envelope === null).length;
    erased += gone + verifyNotes(event, gone > 0 || erasedRuns.has(event.run), at);
    previous = nextHash(previous, { ...event, messages: own.map(({ hash }) => hash) });
    check(previous === event.hash, at("it is not what was written"));
    messages = event.messages_to;
  }
  const { id, head } = thread;
  check(head.seq === thread.events.length - 1 && head.hash === previous, () => {
    const seq = thread.events.length;
    return { thread: id, place: "event", seq, detail: `the thread's own head is event ${head.seq}` };
  });
  check(thread.messages.length === messages, () => {
    return { thread: id, place: "message", seq: messages, detail: "it was written with no event" };
  });
  return { thread, erased };
}

/** Where the last erasure of a message stands that was signed for it; by the number of the message. */
function erasuresIn({ id: thread, messages }: AuditThread, key: Checker): (seq: number) => number {
  const at = new Map<number, number>();
  for (const { seq: place, supersedes: seq, ...row } of messages) {
    const signature = erasureSignature(row);
    const hash = seq === null ? undefined : messages[seq]?.hash;
    // A copy in a fork was signed for another thread, and says nothing here.
    if (signature === undefined || seq === null || hash === undefined) continue;
    if (key.isSigned(erasureStatement({ thread, seq, hash }), signature)) at.set(seq, place);
  }
  return (seq) => at.get(seq) ?? -1;
}

/** The runs that something was erased from: their notes may quote it. What belongs to no run has the number 0. */
function runsErasedFrom({ events, messages }: AuditThread): ReadonlySet<number> {
  const runs = new Set<number>();
  let seq = 0;
  for (const { run, messages_to } of events) {
    for (; seq < messages_to && seq < messages.length; seq++) if (messages[seq]?.envelope === null) runs.add(run);
  }
  runs.delete(0);
  return runs;
}

function verifyMessage(thread: string, message: AuditMessage, seq: number, erasedAt: (seq: number) => number): void {
  const at = (detail: string) => (): Broken => ({ thread, place: "message", seq, detail });
  const { salt, envelope, hash } = message;
  check(message.seq === seq, at(`message ${message.seq} stands where message ${seq} was written`));
  if (envelope === null || salt === null) {
    check(envelope === null && salt === null, at("its content is there in part"));
    // An edit goes with the message that it replaces, and with nothing that was erased before it was made.
    const isErased = message.kind !== "deletion" && erasedAt(message.supersedes ?? seq) > seq;
    check(isErased, at("its content is gone, and nobody who has the key says that it was erased"));
    return;
  }
  check(contentHash({ ...message, salt, envelope }) === hash, at("it is not what was written"));
}

/** How many notes were erased: they go with the messages that were written beside them, and in the same run. */
function verifyNotes(event: AuditEvent, mayBeErased: boolean, at: (detail: string) => () => Broken): number {
  const { notes, salt, notes_hash } = event;
  if (notes !== null) {
    check(salt !== null && notesHash(salt, notes) === notes_hash, at("its notes are not what was written"));
    return 0;
  }
  check(salt === null, at("its notes are there in part"));
  check(notes_hash === null || mayBeErased, at("its notes are gone, and no message of its run was erased"));
  return notes_hash === null ? 0 : 1;
}

function readThread(given: unknown): AuditThread {
  const { data: own, error } = auditThreadSchema.safeParse(given);
  if (!own) throw new Found({ place: "manifest", detail: `a thread has not the shape of one: ${problemIn(error)}` });
  const read = <Schema extends z.ZodType>(schema: Schema, place: "event" | "message") => {
    return (item: unknown, seq: number): z.infer<Schema> => {
      const { success, data, error: wrong } = schema.safeParse(item);
      if (success) return data;
      throw new Found({ thread: own.id, place, seq, detail: `it has not the shape of one: ${problemIn(wrong)}` });
    };
  };
  const events = own.events.map(read(auditEventSchema, "event"));
  return { ...own, events, messages: own.messages.map(read(auditMessageSchema, "message")) };
}

/** The first problem, without what the value was. */
export function problemIn(error: z.ZodError | undefined): string {
  const [issue] = error?.issues ?? [];
  return issue ? `${issue.path.map(String).join(".") || "it"} (${issue.code})` : "it cannot be read";
}
