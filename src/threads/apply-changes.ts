// What was asked to be changed in a thread between two runs: edited and deleted messages, and calls of which somebody
// found out what they did. Each is a new row that supersedes the old one; only what is erased is lost, and that it was
// erased is not.
import type { StoredMessage } from "../backend/thread-rows.ts";
import * as canonicalJson from "../contracts/canonical-json.ts";
import * as message from "../contracts/conversation/message.ts";
import { isMap, type Json, type JsonMap } from "../contracts/json.ts";
import * as toolResult from "../contracts/tools/result.ts";
import type { Batch } from "./batch.ts";
import type { ReadEntry } from "./entries.ts";
import { eraseMessages, readHistory } from "./erase-messages.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";

/**
 * Adds the rows of every change among the entries to the batch. One that does not fit any more changes nothing, and one that
 * cannot be made is noted: either is taken in, since whatever stays in the inbox would be met again for ever.
 */
export async function applyChanges(
  host: Host,
  held: HeldThread,
  entries: readonly ReadEntry[],
  batch: Batch,
): Promise<void> {
  for (const entry of entries) {
    const apply = await readyToApply(host, held, entry, batch);
    try {
      apply?.();
    } catch (thrown) {
      batch.notes.push({ type: "change_not_made", metadata: { kind: entry.kind, ...placeOf(entry) } });
      host.report(thrown, held.id);
    }
  }
}

/** Reads what a change needs, and gives what makes it: only the database may fail before that, and then all is tried again. */
async function readyToApply(
  host: Host,
  held: HeldThread,
  entry: ReadEntry,
  batch: Batch,
): Promise<(() => void) | undefined> {
  switch (entry.kind) {
    case "erasure": {
      const history = await readHistory(host, held.id);
      return () => eraseMessages(host, held, history, entry.body, batch);
    }
    case "edit": {
      const { seq, message: edited } = entry.body;
      const isThere = (await currentRow(host, held, seq, batch)) !== undefined;
      return () => {
        // What is erased or deleted cannot be brought back by an edit that comes late.
        if (!isThere) batch.notes.push({ type: "change_not_made", metadata: { kind: entry.kind, seq } });
        else {
          batch.supersede(seq, message.normalize(edited));
          batch.notes.push({ type: "message_edited", metadata: { seq } });
        }
      };
    }
    case "deletion": {
      const { seq } = entry.body;
      return () => {
        batch.supersede(seq, null);
        batch.notes.push({ type: "message_deleted", metadata: { seq } });
      };
    }
    case "inject":
      return () => batch.addMessage(message.normalize(entry.body.message));
    case "settlement":
      return await readyToSettle(host, held, entry.body, batch);
    default:
      return undefined;
  }
}

function placeOf({ kind, body }: ReadEntry): JsonMap {
  if (kind === "edit" || kind === "deletion") return { seq: body.seq };
  return kind === "settlement" ? { run: body.run, number: body.number } : {};
}

/** The row of a message, unless it was erased or deleted before or is with this commit. */
async function currentRow(
  { stores: { threads } }: Host,
  { id }: HeldThread,
  seq: number,
  batch: Batch,
): Promise<StoredMessage | undefined> {
  const isGone = batch.messages.some(({ kind, supersedes }) => kind === "deletion" && supersedes === seq);
  if (isGone || (await threads.isDeleted(id, seq))) return undefined;
  const [row] = await threads.messages(id, { from: seq, limit: 1 });
  return row?.seq === seq ? row : undefined;
}

type Settlement = Extract<ReadEntry, { kind: "settlement" }>["body"];

async function readyToSettle(host: Host, held: HeldThread, settlement: Settlement, batch: Batch) {
  const { run, number, result, by = null } = settlement;
  const call = await host.stores.threads.call(held.id, run, number);
  if (call?.phase !== "unknown" || call.message_seq === null) return undefined;
  const { message_seq, tool_name } = call;
  const row = await currentRow(host, held, message_seq, batch);
  return () => {
    batch.calls.push({ change: "ended", run, number, phase: "settled", outcome: "settled_by_operator", message_seq });
    batch.notes.push({ type: "call_settled_by_operator", metadata: { run, number, tool_name, by } });
    batch.facts.push({ type: "operator.settled", run, call: number, by });
    // Where nobody is to know any more what the call was, nobody is told what it did.
    if (row) batch.supersede(message_seq, settledMessage(row, result));
    else batch.forget();
  };
}

/** The message that told of an unknown outcome, now with what was found out. */
function settledMessage({ envelope }: StoredMessage, found: Json): message.Message {
  const before = message.normalize(JSON.parse(envelope));
  const tool_name = String(before.payload.tool_name ?? "");
  const fields: JsonMap = isResult(found) ? found : { result: found };
  const settled = toolResult.normalize({ success: !("error" in fields), ...fields, tool_name });
  const content = settled.success ? canonicalJson.text(settled.result) : settled.error;
  return message.toolResult({ content, tool_name, payload: settled, metadata: before.metadata });
}

function isResult(value: Json): value is JsonMap {
  return isMap(value) && ("success" in value || "error" in value || "result" in value);
}
