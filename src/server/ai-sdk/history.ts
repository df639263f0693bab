// The messages of a thread as a chat shows them: a message of the user, and what a run said after it, each under the id
// that it has in streams too.
import type { JsonMap } from "../../contracts/json.ts";
import type { NumberedMessage } from "../chat/chat-desk.ts";
import { isOfAgent, isOfUser, isShown, type ThreadMessage, textOf } from "../chat/message-text.ts";
import { readResult } from "../chat/read-result.ts";
import { isClientTool } from "./create-chunker.ts";
import { answerId, userMessageId } from "./ids.ts";

/** A call as a part of a message: with its result once it has one, and with the approval that it takes. */
type ToolPart = {
  type: string;
  toolCallId: string;
  state: string;
  input: unknown;
  providerExecuted?: true;
  approval?: JsonMap;
  output?: unknown;
  errorText?: string;
};

type Part =
  | { readonly type: "step-start" }
  | { readonly type: "text"; readonly text: string; readonly state?: "done" }
  | ToolPart;

export type HistoryMessage = { readonly id: string; readonly role: "user" | "assistant"; readonly parts: Part[] };

export function historyOf(messages: readonly NumberedMessage[]): readonly HistoryMessage[] {
  const history: HistoryMessage[] = [];
  let asked: NumberedMessage | undefined;
  let step = -1;
  let open: ToolPart | undefined;

  /** The answer that is being given, with a mark where another step begins. */
  function partsOf({ run, step: now }: NumberedMessage): Part[] {
    const id = answerId({ run, seq: asked?.run === run ? asked.seq : null });
    let last = history.at(-1);
    if (last?.id !== id) {
      last = { id, role: "assistant", parts: [] };
      history.push(last);
      step = -1;
    }
    if (now !== step) last.parts.push({ type: "step-start" });
    step = now;
    return last.parts;
  }

  function settle(message: ThreadMessage): void {
    if (open?.toolCallId !== message.metadata.tool_call_id || !open) return;
    const { toolCallId: call_id, input, approval } = open;
    const id = approval?.id;
    const result = readResult(message, { call_id, tool_name: "", input }, typeof id === "string" ? id : undefined);
    if (result.came === "output") Object.assign(open, { state: "output-available", output: result.output ?? null });
    else if (result.came === "error") Object.assign(open, { state: "output-error", errorText: result.error });
    else open.state = "output-denied";
    const reason = result.came === "denied" ? { reason: result.reason } : {};
    if (approval) open.approval = { ...approval, approved: result.came !== "denied", ...reason };
    open = undefined;
  }

  for (const numbered of messages) {
    const { message } = numbered;
    if (isOfUser(message)) {
      if (!isShown(message)) continue;
      asked = numbered;
      history.push({ id: userMessageId(asked.seq), role: "user", parts: [{ type: "text", text: textOf(message) }] });
    } else if (isOfAgent(message)) {
      if (isShown(message)) partsOf(numbered).push({ type: "text", text: textOf(message), state: "done" });
    } else if (message.type === "tool_call") {
      open = callPart(message);
      partsOf(numbered).push(open);
    } else if (message.type === "approval_required" && open) {
      const { action_id, summary = "", preview = null } = message.payload;
      open.state = "approval-requested";
      open.approval = { id: String(action_id), descriptor: { summary, preview }, requestReason: summary };
    } else if (message.type === "tool_result") settle(message);
  }
  return history;
}

function callPart({ payload, metadata }: ThreadMessage): ToolPart {
  const name = String(payload.tool_name);
  return {
    type: `tool-${name}`,
    toolCallId: String(metadata.tool_call_id),
    state: "input-available",
    input: payload.parameters ?? {},
    ...(!isClientTool(name) && { providerExecuted: true }),
  };
}
