// What prompts have said that were used as tools: it stands on the thread too, but is no part of its conversation.
import type { Message } from "../contracts/conversation/message.ts";
import type { ThreadExport } from "../threads/export.ts";
import type { ThreadMessage } from "../threads/thread.ts";

/** In the order in which it was said, with how deep it stands and the message with the call that it is said for. */
export type DeeperMessage = ThreadMessage & { readonly depth: number; readonly parent_seq: number | null };

export function deeperMessages({ messages }: ThreadExport): readonly DeeperMessage[] {
  return messages.flatMap(({ seq, run, step, kind, depth, parent_seq, envelope }) => {
    if (kind !== "message" || depth === 0) return [];
    return [{ seq, run, step, depth, parent_seq, message: JSON.parse(envelope) as Message }];
  });
}
