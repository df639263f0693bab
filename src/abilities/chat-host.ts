// What a host may add to chats: handlers that answer in the place of threads, carriers of messages, and hooks.
import type { ChatHandlers } from "../contracts/chat/chat-handlers.ts";
import type { Hooks } from "../contracts/hooks.ts";
import type { Handler } from "../contracts/seams.ts";

export type ChatExtensions = {
  /** Asked before threads are; who finds nobody here talks with a thread. */
  readonly handlers?: Pick<ChatHandlers, "find">;
  readonly hooks?: Hooks;
  /** Carries messages out: what `agents/dispatch-message` hands on. */
  readonly carrier?: Handler;
  /** Told what goes wrong while an answer is streamed, when the call itself is over. */
  readonly report?: (error: unknown) => void;
};
