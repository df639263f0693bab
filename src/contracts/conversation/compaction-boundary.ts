// Where a transcript may be cut in two without parting a tool call from its result.
import type { CompactionPolicy } from "./compaction-policy.ts";
import type { Message } from "./message.ts";

/** The index of the first message that stays; 0 when there is nothing to compact. */
export function selectBoundary(messages: readonly Message[], policy: CompactionPolicy): number {
  return toolSafeCut(messages, Math.max(0, messages.length - policy.recent_messages), policy);
}

/** The nearest cut at or before the given one that keeps calls and results together, if the policy wants that. */
export function toolSafeCut(messages: readonly Message[], wanted: number, policy: CompactionPolicy): number {
  let cut = wanted;
  if (!policy.preserve_tool_boundaries) return cut;
  while (cut > 0 && messages[cut]?.type === "tool_result") cut--;
  while (cut > 0 && messages[cut - 1]?.type === "tool_call") cut--;
  return cut;
}
