// What was asked to be changed in a thread between two runs: edited and deleted messages, and calls of which somebody
// found out what they did. Each is a new row that supersedes the old one; nothing that was written is ever lost.
import type { StoredMessage } from "../backend/thread-store.ts";
import * as canonicalJson from "../contracts/canonical-json.ts";
import * as message from "../contracts/conversation/message.ts";
import { isMap, type Json, type JsonMap } from "../contracts/json.ts";
import * as toolResult from "../contracts/tools/result.ts";
import type { Batch } from "./batch.ts";
import type { ReadEntry } from "./entries.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";

/** Adds the rows of every change among the entries to the batch. One that does not fit any more changes nothing. */
export async function applyChanges(
  host: Host,
  held: HeldThread,
  entries: readonly ReadEntry[],
  batch: Batch,
): Promise<void> {
  for (const entry of entries) {
    if (entry.kind === "edit") {
      batch.supersede(entry.body.seq, message.normalize(entry.body.message));
      batch.notes.push({ type: "message_edited", metadata: { seq: entry.body.seq } });
    } else if (entry.kind === "deletion") {
      batch.supersede(entry.body.seq, null);
      batch.notes.push({ type: "message_deleted", metadata: { seq: entry.body.seq } });
    } else if (entry.kind === "inject") {
      batch.addMessage(message.normalize(entry.body.message));
    } else if (entry.kind === "settlement") {
      await settleUnknown(host, held, entry.body, batch);
    }
  }
}

type Settlement = { readonly run: number; readonly number: number; readonly result: Json };

async function settleUnknown(host: Host, held: HeldThread, { run, number, result }: Settlement, batch: Batch) {
  const { threads } = host.stores;
  const call = await threads.call(held.id, run, number);
  if (call?.phase !== "unknown" || call.message_seq === null) return;
  const [row] = await threads.messages(held.id, { from: call.message_seq, limit: 1 });
  if (row) batch.supersede(call.message_seq, settledMessage(row, result));
  const { message_seq } = call;
  batch.calls.push({ change: "ended", run, number, phase: "settled", outcome: "settled_by_operator", message_seq });
  batch.notes.push({ type: "call_settled_by_operator", metadata: { run, number, tool_name: call.tool_name } });
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
