// The answer that a model is giving just now, as a message that is not whole yet. It has the place, and so the id, that the
// whole one will have.
import type { StandardMessage } from "../contracts/standard/standard-message.ts";
import type { State } from "../loop/state.ts";
import type { Host } from "./host.ts";

/** Null when no model is being asked. */
export async function pendingAnswer({ stores }: Host, threadId: string): Promise<StandardMessage | null> {
  const thread = await stores.threads.get(threadId);
  if (thread?.status !== "running") return null;
  const text = await stores.threads.state(threadId);
  const state = text === null ? null : (JSON.parse(text) as State);
  if (state?.in_flight?.kind !== "call_model") return null;
  const [live] = await stores.liveText.get([threadId]);
  const segments = live?.segments ?? [];
  const said = segments.map(({ type, text: piece }) => (type === "text" ? piece : "")).join("");
  return {
    id: `message-${thread.next_message}`,
    role: state.standing?.side === "b" ? "user" : "assistant",
    content: said,
    ...{ name: null, tool_calls: null, tool_call_id: null, status: "pending", tool_status: null },
    ...{ silent: false, parent_id: null, depth: state.frames?.length ?? 0, attachments: [], reasoning_content: null },
    created_at: thread.updated_at,
    metadata: {},
    subagent_id: null,
  };
}
