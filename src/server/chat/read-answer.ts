// Turns the events of a thread into those of an answer. Words that were told piece by piece are not told again with the
// message that they have become, and what was committed before the reader came is told from its message.
import { isMap } from "../../contracts/json.ts";
import type { AnswerEvent, Call } from "./answer-event.ts";
import { isOfAgent, isOfUser, isShown, type ThreadMessage, textOf } from "./message-text.ts";
import { readResult } from "./read-result.ts";
import type { StreamEvent } from "./stream-event.ts";

type Approval = { readonly request_id: string; readonly summary: string; readonly preview: unknown };

/** Takes one event after another, and says what each one tells. */
export function createAnswerReader(): (event: StreamEvent) => readonly AnswerEvent[] {
  /** The words that were told of the answer that is being given. */
  let told = "";
  /** The call whose arguments are being told. Those behind it have not been reached, and are told when they are. */
  let inputOf: string | undefined;
  let open: Call | undefined;
  let approval: Approval | undefined;

  function forget(): void {
    told = "";
    inputOf = undefined;
  }

  function words(text: string): readonly AnswerEvent[] {
    const isMore = text.startsWith(told);
    const rest = isMore ? text.slice(told.length) : text;
    told = "";
    return [
      ...(isMore ? [] : [{ type: "restarted" } as const]),
      ...(rest === "" ? [] : [{ type: "text", text: rest } as const]),
    ];
  }

  function added(seq: number, message: ThreadMessage): readonly AnswerEvent[] {
    const { type, payload, metadata, id = "" } = message;
    if (isOfUser(message)) return isShown(message) ? [{ type: "user", seq, id, text: textOf(message) }] : [];
    if (isOfAgent(message)) return isShown(message) ? words(textOf(message)) : [];
    const call_id = typeof metadata.tool_call_id === "string" ? metadata.tool_call_id : "";
    switch (type) {
      case "tool_call":
        open = { call_id, tool_name: String(payload.tool_name), input: payload.parameters ?? {} };
        approval = undefined;
        return [{ type: "call", call: open }];
      case "approval_required":
        approval = readApproval(payload);
        return [];
      case "tool_result": {
        if (open?.call_id !== call_id) return [];
        const result = readResult(message, open, approval?.request_id);
        open = undefined;
        approval = undefined;
        return [{ type: "result", result }];
      }
      default:
        return [];
    }
  }

  function asked(request_id: string, kind: string): readonly AnswerEvent[] {
    // A child that is waited for brings its result by itself.
    if (!open || (kind !== "approval" && kind !== "client_tool")) return [];
    if (kind === "approval") approval ??= { request_id, summary: "", preview: null };
    const { summary = "", preview = null } = approval ?? {};
    return [{ type: "asked", asked: { ...open, request_id, kind, summary, preview } }];
  }

  return (event) => {
    switch (event.type) {
      case "run.started":
        forget();
        return [{ type: "run", run: event.run }];
      case "step.started":
        forget();
        return [{ type: "step" }];
      case "step.restarted":
        forget();
        return [{ type: "restarted" }];
      case "text.delta":
        told += event.text;
        return [{ type: "text", text: event.text }];
      case "reasoning.delta":
        return [{ type: "reasoning", text: event.text }];
      case "tool_input.delta": {
        const { tool_call_id: call_id, tool_name, text } = event;
        inputOf ??= call_id;
        return inputOf === call_id ? [{ type: "input", call_id, tool_name, text }] : [];
      }
      case "message.added":
        // What a prompt says that speaks for a call is part of that call.
        return (event.depth ?? 0) > 0 ? [] : added(event.seq, event.message as ThreadMessage);
      case "request.created":
        return asked(event.request_id, event.kind);
      case "note":
        return accepted(event.note);
      case "run.ended":
        return [{ type: "ended", run: event.run }];
      default:
        return [];
    }
  };
}

function readApproval({ action_id, summary, preview }: ThreadMessage["payload"]): Approval {
  return {
    request_id: String(action_id),
    summary: typeof summary === "string" ? summary : "",
    preview: preview ?? null,
  };
}

function accepted({ type, metadata }: ThreadMessage["payload"]): readonly AnswerEvent[] {
  if (type !== "approval_decided" || !isMap(metadata) || metadata.decision !== "accepted") return [];
  return [{ type: "accepted", request_id: String(metadata.request_id) }];
}
