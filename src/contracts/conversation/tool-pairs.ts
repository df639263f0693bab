// Which tool calls and tool results of a transcript lack the other half. Providers refuse a transcript with such halves.
import { trim } from "../coerce.ts";
import type { JsonMap } from "../json.ts";
import * as message from "./message.ts";

export type Orphan = {
  readonly index: number;
  readonly kind: "orphan_tool_call" | "orphan_tool_result";
  readonly type: "tool_call" | "tool_result";
  readonly tool_name: string;
  readonly tool_call_id?: string;
};

/** Calls of one id, or of one name when they have no id, and how many of them have been answered. */
type Waiting = { readonly calls: Orphan[]; answered: number };

/** The halves without a counterpart, in the order of the transcript. */
export function validate(messages: unknown): readonly Orphan[] {
  const withId = new Map<string, Waiting>();
  const byName = new Map<string, Waiting>();
  const orphans: Orphan[] = [];
  for (const [index, { type, payload, metadata }] of message.normalizeMany(messages).entries()) {
    if (type !== "tool_call" && type !== "tool_result") continue;
    const name = typeof payload.tool_name === "string" ? payload.tool_name : "";
    const id = callId(metadata);
    const [queues, key] = id === undefined ? [byName, name] : [withId, id];
    const half: Orphan = { index, kind: `orphan_${type}`, type, tool_name: name, ...(id && { tool_call_id: id }) };
    if (type === "tool_call") wait(queues, key, half);
    else if (!answer(queues.get(key))) orphans.push(half);
  }
  for (const queues of [withId, byName]) {
    for (const { calls, answered } of queues.values()) for (const call of calls.slice(answered)) orphans.push(call);
  }
  return orphans.sort((left, right) => left.index - right.index);
}

/** What is left of a transcript without its orphans, and the event that tells of it. */
export type Pruned<Item> = {
  readonly messages: readonly Item[];
  readonly removed: readonly Orphan[];
  readonly events: readonly { readonly type: string; readonly metadata: JsonMap }[];
};

/** Drops the orphans; the messages that stay are the ones that were given, not normalised. */
export function prune<Item>(messages: readonly Item[]): Pruned<Item> {
  const orphans = validate(messages);
  const total = { total_messages: messages.length, orphan_count: orphans.length };
  if (orphans.length === 0) {
    return { messages: [...messages], removed: orphans, events: [{ type: "tool_pair_validated", metadata: total }] };
  }
  const dropped = new Set(orphans.map((orphan) => orphan.index));
  const retained = messages.filter((_, index) => !dropped.has(index));
  const metadata = { ...total, retained_count: retained.length, removed_indices: [...dropped], orphans };
  return { messages: retained, removed: orphans, events: [{ type: "tool_pair_pruned", metadata }] };
}

/** The id as it stands, since providers compare it letter by letter; a blank one counts as none. */
function callId({ tool_call_id: id }: JsonMap): string | undefined {
  return typeof id === "string" && trim(id) !== "" ? id : undefined;
}

function wait(queues: Map<string, Waiting>, key: string, call: Orphan): void {
  const waiting = queues.get(key);
  if (waiting === undefined) queues.set(key, { calls: [call], answered: 0 });
  else waiting.calls.push(call);
}

function answer(waiting: Waiting | undefined): boolean {
  if (waiting === undefined || waiting.answered === waiting.calls.length) return false;
  waiting.answered++;
  return true;
}
