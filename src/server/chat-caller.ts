// The chat ability as the doors of chats call it, for whoever asks.
import type { Context } from "hono";
import { CHAT_STREAM, type ChatStream } from "../abilities/chat-stream.ts";
import { defined } from "../abilities/defined.ts";
import type { OperationError } from "../contracts/operation-error.ts";
import type { Holdfast } from "../holdfast.ts";
import type { ServerEnv } from "./door.ts";

const CHAT = "agents/chat";

export type ChatCaller = {
  /** Undefined where there is no chat. */
  readonly chat: ((input: object) => Promise<unknown>) | undefined;
  readonly stream: (input: object) => Promise<ChatStream | OperationError>;
};

/** Whoever leaves, as the signal tells, only stops waiting: the run goes on. */
export function chatCaller(
  { abilities }: Holdfast,
  context: Context<ServerEnv>,
  signal: AbortSignal = context.req.raw.signal,
): ChatCaller {
  const caller = {
    principal: context.get("principal"),
    door: "http" as const,
    signal,
    ...defined({ key: context.req.header("idempotency-key") }),
  };
  return {
    chat: abilities.get(CHAT) && ((input) => abilities.call(CHAT, input, caller)),
    stream: async (input) => (await abilities.call(CHAT_STREAM, input, caller)) as ChatStream | OperationError,
  };
}
