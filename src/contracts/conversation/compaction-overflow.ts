// What happens to a transcript too large to summarise: its older part is set aside whole, and a stub stands in for it.
import { sha256, text } from "../canonical-json.ts";
import { type Json, type JsonMap, snapshotMap } from "../json.ts";
import { type Pairs, toolSafeCut } from "./compaction-boundary.ts";
import type { CompactionPolicy } from "./compaction-policy.ts";
import * as message from "./message.ts";

/** An overflowing transcript: either where to cut it and the stub that takes the place of the rest, or no safe cut. */
export type Overflow =
  | { readonly kind: "unsplittable"; readonly details: JsonMap }
  | { readonly kind: "split"; readonly cut: number; readonly stub: message.Message; readonly details: JsonMap };

/**
 * Undefined unless the policy archives and the messages as they were given are longer than its threshold. The same
 * messages always give the same archive id.
 */
export function findOverflow(
  messages: readonly message.Message[],
  given: readonly Json[],
  policy: CompactionPolicy,
  pairs?: Pairs,
): Overflow | undefined {
  if (!policy.overflow_archive_enabled || policy.overflow_threshold_bytes === 0) return undefined;
  const totalBytes = listSize(given.map(sizeOf), 0);
  if (totalBytes <= policy.overflow_threshold_bytes) return undefined;
  const total = messages.length;
  const cut = toolSafeCut(messages, sizedCut(messages, policy), policy, pairs);
  if (cut <= 0) {
    const reason = "overflow_input_unsplittable";
    const details = snapshotMap({ reason, total_messages: total, total_bytes: totalBytes, policy });
    return { kind: "unsplittable", details };
  }
  const details = snapshotMap({
    strategy: "deterministic_overflow_archive",
    archive_id: `agents-api-overflow-${sha256(text(given.slice(0, cut))).slice(0, 16)}`,
    archive_pointer: policy.overflow_archive_pointer,
    archive_count: cut,
    retained_count: total - cut,
    total_messages: total,
    total_bytes: totalBytes,
    boundary: { archive_until: cut - 1, retain_from: cut },
    policy,
  });
  return { kind: "split", cut, stub: stubMessage(details, policy), details };
}

/**
 * The first cut that keeps no more messages, and if possible no more bytes, than the policy retains. What is kept are the
 * envelopes, whatever the messages were given as, so it is their bytes that count.
 */
function sizedCut(messages: readonly message.Message[], policy: CompactionPolicy): number {
  const retained = policy.overflow_retained_messages || policy.recent_messages;
  let cut = Math.max(0, messages.length - retained);
  if (policy.overflow_retained_bytes === 0) return cut;
  const sizes = messages.map(sizeOf);
  let bytes = listSize(sizes, cut);
  while (sizes.length - cut > 1 && bytes > policy.overflow_retained_bytes) {
    bytes -= (sizes[cut] ?? 0) + 1;
    cut++;
  }
  return cut;
}

function stubMessage(details: JsonMap, policy: CompactionPolicy): message.Message {
  const lines = `Archive: ${details.archive_id}\nArchived messages: ${details.archive_count}`;
  const content = `${policy.overflow_stub_prefix}\n\n${lines}`;
  return message.text(policy.overflow_stub_role, content, { agents_api_compaction_archive: details });
}

// The check runs before every turn over a transcript that mostly stayed the same, so each message is measured once.
const measured = new WeakMap<object, number>();

function sizeOf(item: Json): number {
  // The canonical text is ASCII: its length is its size in bytes.
  if (typeof item !== "object" || item === null) return text(item).length;
  const known = measured.get(item);
  if (known !== undefined) return known;
  const size = text(item).length;
  measured.set(item, size);
  return size;
}

/** Bytes of the list from an index on: brackets, items, and the commas between them. */
function listSize(sizes: readonly number[], from: number): number {
  let bytes = 2 + Math.max(0, sizes.length - from - 1);
  for (let index = from; index < sizes.length; index++) bytes += sizes[index] ?? 0;
  return bytes;
}
