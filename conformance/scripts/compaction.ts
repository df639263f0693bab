// compaction.compact with a summarizer that returns or throws what the vector says.
import { compact } from "../../src/contracts/conversation/compaction.ts";

export type Script = { messages: unknown; policy: unknown; summarizer?: { returns?: unknown; throws?: string } };

export async function runCompaction({ messages, policy, summarizer = {} }: Script) {
  const summarizer_calls: unknown[] = [];
  const result = await compact(messages, policy, (head, { policy: _told, ...context }) => {
    summarizer_calls.push({ message_count: head.length, context });
    if (summarizer.throws !== undefined) throw new Error(summarizer.throws);
    return summarizer.returns;
  });
  return { result, summarizer_calls };
}
