// When a transcript is compacted, how much of it stays as it is, and how the summary is introduced.
import { trimmed, wholeNumber } from "../coerce.ts";
import { emptyMap, isContainer, type Json, type JsonMap, snapshot, snapshotMap } from "../json.ts";
import { conservedRatio, flag } from "./compaction-conservation.ts";

/** A complete policy; fields that the contract does not name are kept beside its own. */
export type CompactionPolicy = JsonMap & {
  readonly enabled: boolean;
  readonly max_messages: number;
  readonly recent_messages: number;
  readonly summary_role: string;
  readonly summary_prefix: string;
  readonly summary_model: string;
  readonly summary_provider: string;
  readonly preserve_tool_boundaries: boolean;
  readonly conservation_enabled: boolean;
  readonly minimum_conserved_byte_ratio: number;
  readonly fail_on_conservation_failure: boolean;
  readonly overflow_archive_enabled: boolean;
  readonly overflow_threshold_bytes: number;
  readonly overflow_retained_messages: number;
  readonly overflow_retained_bytes: number;
  readonly overflow_archive_pointer: JsonMap | readonly Json[];
  readonly overflow_stub_role: string;
  readonly overflow_stub_prefix: string;
};

/** The policy with every field present and usable. What is missing or of the wrong kind takes its default. */
export function normalizePolicy(value: unknown): CompactionPolicy {
  const given = snapshotMap(value);
  const maxMessages = count(given.max_messages, 1, 40);
  const policy = {
    enabled: flag(given.enabled, false),
    max_messages: maxMessages,
    recent_messages: recentMessages(count(given.recent_messages, 1, 12), maxMessages),
    summary_role: trimmed(given.summary_role) ?? "system",
    summary_prefix: trimmed(given.summary_prefix) ?? "Earlier conversation summary:",
    summary_model: trimmed(given.summary_model) ?? "",
    summary_provider: trimmed(given.summary_provider) ?? "",
    preserve_tool_boundaries: flag(given.preserve_tool_boundaries, true),
    conservation_enabled: flag(given.conservation_enabled, false),
    minimum_conserved_byte_ratio: conservedRatio(given.minimum_conserved_byte_ratio),
    fail_on_conservation_failure: flag(given.fail_on_conservation_failure, true),
    overflow_archive_enabled: flag(given.overflow_archive_enabled, false),
    overflow_threshold_bytes: count(given.overflow_threshold_bytes, 0, 0),
    overflow_retained_messages: count(given.overflow_retained_messages, 0, 0),
    overflow_retained_bytes: count(given.overflow_retained_bytes, 0, 0),
    overflow_archive_pointer: isContainer(given.overflow_archive_pointer) ? given.overflow_archive_pointer : emptyMap,
    overflow_stub_role: trimmed(given.overflow_stub_role) ?? "system",
    overflow_stub_prefix: trimmed(given.overflow_stub_prefix) ?? "Earlier conversation archived without summarization.",
  };
  return snapshot({ ...policy, ...given, ...policy }) as CompactionPolicy;
}

/** Fewer than the limit, or a compacted transcript would at once be due again. */
function recentMessages(recent: number, max: number): number {
  return recent >= max ? Math.max(1, max - 1) : recent;
}

/**
 * Text that spells no number counts as zero, which the floor lifts. Other kinds take the fallback, null among them: many
 * write it for what they leave open, and a limit of one message would cost them the conversation.
 */
function count(value: Json | undefined, floor: number, fallback: number): number {
  if (typeof value !== "number" && typeof value !== "string") return fallback;
  return wholeNumber(value, floor) ?? floor;
}
