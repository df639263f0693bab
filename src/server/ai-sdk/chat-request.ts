// What a chat sends: the body of `DefaultChatTransport`. Only what is new in it counts: the last message of the user, and
// what the last answer was given for its calls. What it claims about the past nobody reads.
import { z } from "zod";
import { isMap, type Json, type UnknownMap } from "../../contracts/json.ts";
import type { Attachment } from "../chat/chat-desk.ts";
import { readAs } from "../chat/read-as.ts";
import { invalidInput } from "../chat/refused.ts";

const message = z.looseObject({
  id: z.string().min(1).max(200),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(z.looseObject({ type: z.string() })),
});

const chatRequest = z.looseObject({
  id: z.string().min(1).max(200),
  messages: z.array(message).min(1),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: z.string().optional(),
  agent: z.string().min(1).optional(),
});

export type ChatMessage = z.output<typeof message>;
export type ChatRequest = z.output<typeof chatRequest>;

/** Throws `Refused`. */
export function readChatRequest(body: UnknownMap): ChatRequest {
  return readAs(chatRequest, body, "This is not what a chat sends");
}

/** The words and the files of a user's message. Throws `Refused` for files that stand somewhere else. */
export function readUserMessage({ parts }: ChatMessage): { content: string; attachments: readonly Attachment[] } {
  const words = parts.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  const attachments = parts.filter(({ type }) => type === "file").map(readFile);
  const content = words.join("\n");
  if (content.trim() === "" && attachments.length === 0) {
    throw invalidInput("The message has neither words nor files.");
  }
  return { content, attachments };
}

function readFile({ url, mediaType, filename }: UnknownMap, index: number): Attachment {
  const [, type, data] = /^data:([^;,]*)(?:;[^,]*)?;base64,([A-Za-z0-9+/=]*)$/.exec(String(url)) ?? [];
  if (data === undefined) throw invalidInput("Files come with the message, as data: URLs in base64.");
  const mimeType = typeof mediaType === "string" && mediaType !== "" ? mediaType : type || "application/octet-stream";
  return { name: typeof filename === "string" && filename !== "" ? filename : `file-${index + 1}`, mimeType, data };
}

/** An answer to a call: of a client that ran the tool, or of a person who decided. */
export type PartAnswer = { readonly call_id: string } & (
  | { readonly kind: "approval"; readonly approval_id: string; readonly approved: boolean; readonly reason?: string }
  | { readonly kind: "output"; readonly result: Json }
  | { readonly kind: "error"; readonly error: string }
);

/**
 * What was answered in a message of the assistant. Calls come one after another, so what is new stands at its end; the same
 * id further up is of an earlier call, because providers use ids again.
 */
export function readAnswer({ parts }: ChatMessage): PartAnswer | undefined {
  const last = parts.at(-1);
  return last && answerIn(last);
}

function answerIn(part: UnknownMap): PartAnswer | undefined {
  const { type, toolCallId: call_id, state, output, errorText, approval, providerExecuted } = part;
  const isCall = typeof type === "string" && (type.startsWith("tool-") || type === "dynamic-tool");
  if (!isCall || typeof call_id !== "string") return undefined;
  if (state === "approval-responded") {
    if (!isMap(approval) || typeof approval.id !== "string" || typeof approval.approved !== "boolean") return undefined;
    const { id: approval_id, approved, reason } = approval;
    return { kind: "approval", call_id, approval_id, approved, ...(typeof reason === "string" && { reason }) };
  }
  // What ran here was not the client's to bring.
  if (providerExecuted === true) return undefined;
  if (state === "output-available") return { kind: "output", call_id, result: (output ?? null) as Json };
  if (state === "output-error")
    return { kind: "error", call_id, error: typeof errorText === "string" ? errorText : "" };
  return undefined;
}

/** How often a call of that id stands in a message: providers use ids again. */
export function timesCalled({ parts }: ChatMessage, callId: string): number {
  return parts.filter(({ toolCallId }) => toolCallId === callId).length;
}
