// A message as Standard Agents show it: one for every answer with its calls, one for every result. It is a view of the
// envelopes that are stored.
import type { JsonMap } from "../json.ts";

/** A file of the thread that a message points to. */
export type Attachment = {
  readonly id: string;
  readonly type: "file";
  readonly path: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  readonly width?: number;
  readonly height?: number;
  readonly description?: string;
};

export type StandardToolCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

export type StandardMessage = {
  readonly id: string;
  /** Who wrote it: `assistant` is side A, `user` is side B or the person. */
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly name: string | null;
  readonly tool_calls: readonly StandardToolCall[] | null;
  readonly tool_call_id: string | null;
  /** Null for what came from outside. */
  readonly status: "pending" | "completed" | "failed" | null;
  readonly tool_status: "success" | "error" | null;
  readonly silent: boolean;
  /** The call that the message belongs to, for what a prompt that was used as a tool said. */
  readonly parent_id: string | null;
  readonly depth: number;
  readonly attachments: readonly Attachment[];
  readonly reasoning_content: string | null;
  /** Microseconds since 1970. */
  readonly created_at: number;
  readonly metadata: JsonMap;
  readonly subagent_id: string | null;
};
