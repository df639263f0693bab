// Changes what a thread's history says: a message is replaced by another version, or taken out with all that hangs on it.
import type { Message } from "../../contracts/conversation/message.ts";
import * as message from "../../contracts/conversation/message.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { attachmentsIn } from "../../contracts/standard/attachment.ts";
import { ATTACHMENTS, isBelow } from "../../contracts/standard/file-path.ts";
import { type MessageRow, standardMessages } from "../../contracts/standard/standard-messages.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import { refuseOurs } from "../refuse-ours.ts";
import { messageRows } from "./message-rows.ts";
import type { StateScope } from "./state-scope.ts";

/** A message as it is now, under the id and number of the row that it stands in. */
type Current = Pick<MessageRow, "seq" | "run" | "parent_seq" | "envelope"> & { readonly id: string };

/** False for a message that is not there, and for one that is still queued: that has to be taken back instead. */
export async function updateMessage(
  host: Host,
  scope: StateScope,
  id: string,
  { content, metadata }: { readonly content?: string; readonly metadata?: JsonMap },
): Promise<boolean> {
  const found = currentRows(await messageRows(host, scope)).find((row) => row.id === id);
  if (!found) return false;
  const { envelope } = found;
  const edited = message.normalize({
    ...envelope,
    ...(content !== undefined && { content }),
    metadata: { ...envelope.metadata, ...metadata },
  });
  refuseOurs(edited, envelope);
  await scope.buffer.leave(createEntry.edit(found.seq, edited, {}));
  return true;
}

/** Takes out a message with its calls, their results and its files. A queued one is taken back. False when it is not there. */
export async function deleteMessage(host: Host, scope: StateScope, id: string): Promise<boolean> {
  const { buffer, thread } = scope;
  const queued = await queuedMessage(host, scope, id);
  const isTakenBack = queued && (buffer.takeBack(id) || (await host.stores.inbox.cancel(thread.id, id)));
  // Read afterwards: what cannot be taken back any more is among the rows by now.
  const stored = await messageRows(host, scope);
  const rows = currentRows(stored);
  if (isTakenBack) {
    await removeFiles(scope, [queued], rows);
    // Whoever sent it waits for a run that will not come.
    host.progress.changed(thread.id);
    return true;
  }
  const calls = standardMessages(stored).find((each) => each.id === id)?.tool_calls ?? [];
  const gone = withWhatHangsOn(rows, new Set(calls.map((call) => call.id)), id);
  if (gone.length === 0) return false;
  for (const { seq } of gone) await buffer.leave(createEntry.deletion(seq, {}));
  const rest = rows.filter((row) => !gone.includes(row));
  await removeFiles(
    scope,
    gone.map(({ envelope }) => envelope),
    rest,
  );
  return true;
}

/** What came with the messages alone: what code wrote elsewhere, or a message of the rest points to, stays. */
async function removeFiles({ buffer, thread }: StateScope, gone: readonly Message[], rest: readonly Current[]) {
  const pathsOf = ({ metadata }: Message) => attachmentsIn(metadata).map(({ path }) => path);
  const needed = new Set(rest.flatMap(({ envelope }) => pathsOf(envelope)));
  const paths = new Set(gone.flatMap(pathsOf).filter((path) => isBelow(path, ATTACHMENTS) && !needed.has(path)));
  if (paths.size === 0) return;
  await buffer.write(...[...paths].map((path) => ({ write: "file_gone", thread_id: thread.id, path }) as const));
}

async function queuedMessage({ stores }: Host, { thread, buffer }: StateScope, id: string) {
  const waiting = [...buffer.entries, ...(await stores.inbox.waiting(thread.id))];
  const entry = waiting.find((each) => each.id === id && (each.kind === "message" || each.kind === "inject"));
  return entry && message.normalize(JSON.parse(entry.body).message);
}

/** The rows that are shown, each as it was changed last. */
function currentRows(rows: readonly MessageRow[]): readonly Current[] {
  const changed = new Map(rows.flatMap((row) => (row.supersedes === null ? [] : [[row.supersedes, row] as const])));
  return rows.flatMap(({ seq, run, parent_seq, kind, envelope: first }) => {
    if (kind !== "message" && kind !== "notice") return [];
    const last = changed.get(seq);
    if (last?.kind === "deletion") return [];
    return [{ id: first.id ?? `message-${seq}`, seq, run, parent_seq, envelope: last?.envelope ?? first }];
  });
}

/** The rows of a message: what it says, its calls, what those came to, and what prompts said that spoke for them. */
function withWhatHangsOn(rows: readonly Current[], calls: ReadonlySet<string>, id: string): readonly Current[] {
  const gone = new Set(rows.filter((row) => row.id === id));
  const [first] = gone;
  for (const row of rows) {
    const { run, envelope, parent_seq } = row;
    const isHalf = run === first?.run && calls.has(String(envelope.metadata.tool_call_id));
    const isWithin = [...gone].some(({ seq }) => seq === parent_seq);
    if (first && (isHalf || isWithin)) gone.add(row);
  }
  return [...gone];
}
