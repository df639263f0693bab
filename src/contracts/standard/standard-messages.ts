// The rows of a thread as Standard Agents list messages: an answer with all its calls is one message, each result another.
import { nonEmptyString } from "../coerce.ts";
import type { Message } from "../conversation/message.ts";
import { isMap, type Json, type JsonMap, seal } from "../json.ts";
import { attachmentsIn } from "./attachment.ts";
import { contentText } from "./content-text.ts";
import { matchCalls, NUDGE } from "./pair-calls.ts";
import type { StandardMessage, StandardToolCall } from "./standard-message.ts";

export type MessageRow = {
  readonly seq: number;
  readonly kind: "message" | "summary" | "edit" | "deletion" | "notice";
  readonly supersedes: number | null;
  readonly envelope: Message;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly depth: number;
  readonly parent_seq: number | null;
  readonly step: number;
  readonly run: number;
};

/** A message that further calls of the same answer join. */
type Listed = { readonly row: MessageRow; readonly message: StandardMessage; readonly turn: Json | undefined };

/** The messages of the rows, which are given oldest first. What was superseded stands where it stood first. */
export function standardMessages(rows: readonly MessageRow[]): readonly StandardMessage[] {
  const current = withoutRemoved(currentRows(rows));
  const listed: Listed[] = [];
  // Which message each row became part of, for what a prompt says that speaks for a call.
  const places = new Map<number, number>();
  // What is said within a call does not part the calls of the answer outside.
  const open = new Map<number, number>();
  for (const row of current) {
    const parent = listed[places.get(row.parent_seq ?? -1) ?? -1]?.message.id ?? null;
    const place = open.get(row.depth);
    const answer = place === undefined ? undefined : listed[place];
    if (place !== undefined && answer && isOfAnswer(answer, row)) {
      listed[place] = withCall(answer, row);
      places.set(row.seq, place);
      continue;
    }
    const message = messageOf(row, parent);
    if (message === undefined) continue;
    places.set(row.seq, listed.length);
    if (isAnswer(row)) open.set(row.depth, listed.length);
    else if (message.role !== "tool" && row.envelope.metadata.type !== NUDGE) open.delete(row.depth);
    listed.push({ row, message, turn: row.envelope.payload.turn });
  }
  return listed.map(({ message }) => message);
}

/** Rows as they are now: place and identity of the first version, and the content of the last. */
function currentRows(rows: readonly MessageRow[]): readonly MessageRow[] {
  const superseding = new Map<number, MessageRow>();
  for (const row of rows) if (row.supersedes !== null) superseding.set(row.supersedes, row);
  return rows.flatMap((row) => {
    if (row.kind !== "message" && row.kind !== "notice") return [];
    const latest = superseding.get(row.seq);
    if (latest === undefined) return [row];
    if (latest.kind === "deletion") return [];
    const { id: _, ...content } = latest.envelope;
    const { id } = row.envelope;
    return [{ ...row, envelope: { ...content, ...(id !== undefined && { id }) } }];
  });
}

function withoutRemoved(rows: readonly MessageRow[]): readonly MessageRow[] {
  const isRemoved = ({ envelope }: MessageRow) => envelope.metadata.removed === true;
  if (!rows.some(isRemoved)) return rows;
  const { callOf } = matchCalls(rows.map(({ envelope }) => envelope));
  const calls = new Set(rows.flatMap((row, index) => (isRemoved(row) ? [callOf.get(index)] : [])));
  return rows.filter((row, index) => !isRemoved(row) && !calls.has(index));
}

/** True for what a model said or called: further calls may follow. */
function isAnswer({ kind, envelope }: MessageRow): boolean {
  const { type, role, metadata } = envelope;
  if (kind === "notice" || metadata.type === NUDGE) return false;
  if (type === "tool_call") return true;
  const isSpoken = type === "text" || type === "multimodal_part";
  return isSpoken && (role === "assistant" || metadata.side === "b");
}

/** A call joins what was said in the same step, and the calls of the answer that was numbered alike. */
function isOfAnswer({ row, turn }: Listed, { run, step, envelope }: MessageRow): boolean {
  const { type, payload, metadata } = envelope;
  if (type !== "tool_call" || row.run !== run || row.envelope.metadata.side !== metadata.side) return false;
  return row.step === step || (turn !== undefined && turn === payload.turn);
}

function withCall({ row, message, turn }: Listed, { envelope }: MessageRow): Listed {
  const tool_calls = [...(message.tool_calls ?? []), toolCall(envelope)];
  const reasoning_content = message.reasoning_content ?? reasoningText(envelope);
  return { row, message: { ...message, tool_calls, reasoning_content }, turn: turn ?? envelope.payload.turn };
}

function toolCall({ payload, metadata }: Message): StandardToolCall {
  const name = nonEmptyString(payload.tool_name) ?? "";
  const id = nonEmptyString(metadata.tool_call_id) ?? "";
  return { id, type: "function", function: { name, arguments: JSON.stringify(payload.parameters ?? {}) } };
}

/** Undefined for what is no message to them: pieces of answers, and requests, which are listed by themselves. */
function messageOf(row: MessageRow, parent_id: string | null): StandardMessage | undefined {
  const { seq, envelope, at, depth } = row;
  const { type, metadata, payload, content } = envelope;
  if (type === "delta" || type === "approval_required" || type === "input_required") return undefined;
  const isResult = type === "tool_result";
  return {
    id: envelope.id ?? `message-${seq}`,
    role: roleOf(envelope),
    content: contentText(content),
    name: isResult ? (nonEmptyString(payload.tool_name) ?? null) : (nonEmptyString(metadata.name) ?? null),
    tool_calls: type === "tool_call" ? [toolCall(envelope)] : null,
    tool_call_id: isResult ? (nonEmptyString(metadata.tool_call_id) ?? null) : null,
    status: statusOf(row),
    tool_status: isResult ? (payload.success === false ? "error" : "success") : null,
    silent: metadata.silent === true || metadata.type === NUDGE,
    parent_id,
    depth,
    attachments: attachmentsIn(metadata),
    reasoning_content: reasoningText(envelope),
    created_at: at,
    metadata: freeMetadata(envelope),
    subagent_id: nonEmptyString(metadata.subagent_id) ?? null,
  };
}

function roleOf({ type, role, metadata }: Message): StandardMessage["role"] {
  if (type === "tool_result") return "tool";
  if (type === "tool_call") return metadata.side === "b" ? "user" : "assistant";
  // The loop says it in the assistant's name.
  if (metadata.type === NUDGE || role === "system" || role === "developer") return "system";
  return role === "assistant" || role === "model" ? "assistant" : "user";
}

function statusOf(row: MessageRow): StandardMessage["status"] {
  const { type, metadata } = row.envelope;
  if (metadata.status === "failed" || type === "error") return "failed";
  return isAnswer(row) || type === "tool_result" ? "completed" : null;
}

function reasoningText({ metadata }: Message): string | null {
  const blocks: readonly unknown[] = Array.isArray(metadata.reasoning) ? metadata.reasoning : [];
  const texts = blocks.flatMap((block) => (isMap(block) ? (nonEmptyString(block.text) ?? []) : []));
  return texts.length === 0 ? null : texts.join("\n\n");
}

/** Shown in fields of their own, or of use only to providers. Readers look for a child's reference in both places. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  ...["silent", "attachments", "status", "name", "tool_call_id", "reasoning", "provider_metadata"],
]);

function freeMetadata({ type, metadata }: Message): JsonMap {
  // What else is kept with a call is about that call, and a message may have several.
  const isFree = (key: string) =>
    type === "tool_call" ? key === "side" || key === "prompt" : !SHOWN_ELSEWHERE.has(key);
  return seal(Object.fromEntries(Object.entries(metadata).filter(([key]) => isFree(key))));
}

const USUAL_LIMIT = 100;

/**
 * Without an order, and with `desc`, a page holds the newest messages and `offset` skips newer ones; with `asc` it holds
 * the oldest. Only `desc` puts the newest first. What is silent or said within a call has to be asked for.
 */
export function selectMessages(
  messages: readonly StandardMessage[],
  query: {
    readonly limit?: number | undefined;
    readonly offset?: number | undefined;
    readonly order?: "asc" | "desc" | undefined;
    readonly includeSilent?: boolean | undefined;
    readonly maxDepth?: number | undefined;
  },
): { readonly messages: readonly StandardMessage[]; readonly total: number; readonly hasMore: boolean } {
  const { order, includeSilent = false, maxDepth = 0 } = query;
  const limit = wholeNumber(query.limit, USUAL_LIMIT);
  const offset = wholeNumber(query.offset, 0);
  const chosen = messages.filter(({ silent, depth }) => (includeSilent || !silent) && depth <= maxDepth);
  const total = chosen.length;
  const end = Math.max(0, total - offset);
  const page = order === "asc" ? chosen.slice(offset, offset + limit) : chosen.slice(Math.max(0, end - limit), end);
  return { messages: order === "desc" ? page.reverse() : page, total, hasMore: offset + limit < total };
}

function wholeNumber(given: number | undefined, usual: number): number {
  return given === undefined || Number.isNaN(given) ? usual : Math.max(0, Math.trunc(given));
}
