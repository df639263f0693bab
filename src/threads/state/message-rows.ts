// Everything that a thread's history shows: the rows that are stored, what waits to be taken in, and what was just left.
import type { NewEntry } from "../../backend/inbox.ts";
import type { Message } from "../../contracts/conversation/message.ts";
import * as message from "../../contracts/conversation/message.ts";
import type { StandardMessage } from "../../contracts/standard/standard-message.ts";
import { type MessageRow, standardMessages } from "../../contracts/standard/standard-messages.ts";
import type { Host } from "../host.ts";
import { pendingAnswer } from "../pending-answer.ts";
import type { StateScope } from "./state-scope.ts";

/** Rows that are stored, oldest first, with what waits to change them behind them. */
export async function messageRows(host: Host, scope: StateScope): Promise<readonly MessageRow[]> {
  return [...(await storedRows(host, scope.thread.id)), ...changes(await waitingEntries(host, scope), host.now())];
}

/** Everything there is to list, oldest first. */
export async function listMessages(host: Host, scope: StateScope): Promise<readonly StandardMessage[]> {
  // The rows last: what was said or taken in meanwhile is among them, and known by its id.
  const waiting = await waitingEntries(host, scope);
  const answering = await pendingAnswer(host, scope.thread.id);
  const rows = await storedRows(host, scope.thread.id);
  const known = new Set(rows.map(({ envelope }) => envelope.id));
  const coming = waiting.filter(({ id, kind }) => isMessage(kind) && !known.has(id));
  const said = standardMessages([...rows, ...changes(waiting, host.now())]);
  const isAnswered = answering === null || said.some(({ id }) => id === answering.id);
  return [...said, ...(isAnswered ? [] : [answering]), ...coming.map(standardEntry)];
}

/** A message that waits has the id of the entry that brings it, here and once it is taken in. */
function standardEntry({ kind, body, created_at }: Waiting): StandardMessage {
  const row = { ...aRow, kind: "message" as const, envelope: messageIn(body), at: created_at };
  const [shown] = standardMessages([row]);
  if (!shown) throw new Error("A message that waits cannot be read.");
  // What is injected is as good as stored; what is queued somebody will act on.
  return kind === "inject" ? shown : { ...shown, status: "pending", metadata: { ...shown.metadata, queued: true } };
}

type Waiting = Pick<NewEntry, "id" | "kind" | "body"> & { readonly created_at: number };

async function waitingEntries({ stores, now }: Host, { thread, buffer }: StateScope): Promise<readonly Waiting[]> {
  const stored = await stores.inbox.waiting(thread.id);
  return [...stored, ...buffer.entries.map((entry) => ({ ...entry, created_at: now() * 1_000 }))];
}

function isMessage(kind: NewEntry["kind"]): boolean {
  return kind === "message" || kind === "inject";
}

/** Behind every row that there is. */
const aRow = { seq: Number.MAX_SAFE_INTEGER, run: 0, step: 0, depth: 0, parent_seq: null, supersedes: null };

function changes(waiting: readonly Waiting[], now: number): readonly MessageRow[] {
  return waiting.flatMap(({ kind, body }) => {
    if (kind !== "edit" && kind !== "deletion") return [];
    const supersedes = Number(JSON.parse(body).seq);
    const envelope = kind === "edit" ? messageIn(body) : message.text("user", "");
    return [{ ...aRow, kind, supersedes, envelope, at: now * 1_000 }];
  });
}

function messageIn(body: string): Message {
  return message.normalize(JSON.parse(body).message);
}

const PAGE = 1_000;

async function storedRows({ stores: { threads } }: Host, threadId: string): Promise<readonly MessageRow[]> {
  const rows: MessageRow[] = [];
  for (let from = 0; ; ) {
    const page = await threads.messages(threadId, { from, limit: PAGE });
    for (const row of page) rows.push({ ...row, envelope: message.fromStored(row.envelope) });
    const last = page.at(-1);
    if (!last || page.length < PAGE) return rows;
    from = last.seq + 1;
  }
}
