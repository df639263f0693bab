// Where a transcript may be cut in two without parting a tool call from its result.
import type { CompactionPolicy } from "./compaction-policy.ts";
import type { Message } from "./message.ts";

/** The index of the first message that stays; 0 when there is nothing to compact. */
export function selectBoundary(messages: readonly Message[], policy: CompactionPolicy, pairs?: Pairs): number {
  return toolSafeCut(messages, Math.max(0, messages.length - policy.recent_messages), policy, pairs);
}

/**
 * Which calls and results are kept together: those that stand side by side, as the contract has it, or all. Only in a run
 * that waits in the middle of a call can something come to stand between the two.
 */
export type Pairs = "neighbours" | "all";

/** The nearest cut at or before the given one that keeps calls and results together, if the policy wants that. */
export function toolSafeCut(
  messages: readonly Message[],
  wanted: number,
  policy: CompactionPolicy,
  pairs: Pairs = "neighbours",
): number {
  let cut = wanted;
  if (!policy.preserve_tool_boundaries) return cut;
  while (cut > 0 && messages[cut]?.type === "tool_result") cut--;
  while (cut > 0 && messages[cut - 1]?.type === "tool_call") cut--;
  return pairs === "all" ? wholeCut(messages, cut) : cut;
}

/** Moves the cut back until no result stays without the call that it belongs to. */
function wholeCut(messages: readonly Message[], wanted: number): number {
  let cut = wanted;
  for (let index = messages.length - 1; index >= cut; index--) {
    const { type, metadata } = messages[index] ?? {};
    if (type !== "tool_result") continue;
    const isCall = (each: Message) =>
      each.type === "tool_call" && each.metadata.tool_call_id === metadata?.tool_call_id;
    const call = messages.findLastIndex((each, at) => at < index && isCall(each));
    if (call >= 0) cut = Math.min(cut, call);
  }
  return cut;
}
