// Lets hooks choose among the messages of a request. They see an answer with its calls as one message; what they keep of it
// is kept of the envelopes that it stands for.
import type { Message } from "../../contracts/conversation/message.ts";
import * as message from "../../contracts/conversation/message.ts";
import { pairCalls } from "../../contracts/standard/pair-calls.ts";
import type { StandardMessage } from "../../contracts/standard/standard-message.ts";
import { type MessageRow, standardMessages } from "../../contracts/standard/standard-messages.ts";
import type { HookSet } from "../hooks/hook-set.ts";
import { runHook } from "../hooks/run-hook.ts";
import type { Host } from "../host.ts";
import type { ThreadState } from "../state/thread-state.ts";

export async function filterMessages(
  hooks: HookSet,
  scope: { readonly host: Host; readonly state: ThreadState },
  messages: readonly Message[],
): Promise<readonly Message[]> {
  const listed = standardMessages(messages.map(rowOf));
  const outcome = await runHook(hooks, "filter_messages", scope, listed);
  const kept = "value" in outcome ? outcome.value : listed;
  if (kept === listed) return messages;
  const before = new Map(listed.map((each) => [each.id, each]));
  return pairCalls(kept.flatMap((each) => envelopesOf(each, before.get(each.id), messages)));
}

/** Numbered by their place, so that the id of a message leads back to its envelopes. */
function rowOf(envelope: Message, index: number): MessageRow {
  const { id: _own, ...rest } = envelope;
  return {
    ...{ seq: index, kind: "message" as const, supersedes: null, envelope: rest as Message, at: index },
    ...{ depth: 0, parent_seq: null, step: 0, run: 0 },
  };
}

function envelopesOf(
  kept: StandardMessage,
  before: StandardMessage | undefined,
  messages: readonly Message[],
): readonly Message[] {
  if (!before) return [message.text(kept.role === "tool" ? "user" : kept.role, kept.content)];
  const own = [...ownOf(before, messages)];
  const ids = new Set((kept.tool_calls ?? []).map(({ id }) => id));
  return own.flatMap((envelope) => {
    if (envelope.type === "tool_call") return ids.has(String(envelope.metadata.tool_call_id)) ? [envelope] : [];
    if (kept.content === before.content) return [envelope];
    return kept.content === "" ? [] : [message.normalize({ ...envelope, content: kept.content })];
  });
}

/** The envelopes that a message stands for: the one it is numbered after, and the calls of the same answer. */
function ownOf({ id, tool_calls }: StandardMessage, messages: readonly Message[]): readonly Message[] {
  const first = messages[Number(id.slice("message-".length))];
  const ids = new Set((tool_calls ?? []).map((call) => call.id));
  const calls = messages.filter(
    (each) => each !== first && each.type === "tool_call" && ids.has(String(each.metadata.tool_call_id)),
  );
  return first ? [first, ...calls] : calls;
}
