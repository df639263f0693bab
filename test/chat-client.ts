// The official client of chats, for tests: `Chat` is what `useChat` holds, without the rendering.
import { Chat } from "@ai-sdk/react";
import { type ChatInit, DefaultChatTransport, type UIMessage } from "ai";
import { z } from "zod";
import { type ScriptedStep, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import type { ChatWorld } from "./chat-world.ts";

const order = z.object({ order: z.string() });

export function support(script: readonly ScriptedStep[], ran: string[] = []) {
  const look = tool({
    name: "shop/look",
    description: "Looks an order up.",
    inputSchema: order,
    execute: ({ order: number }) => ({ order: number, state: "sent" }),
  });
  const refund = tool({
    name: "shop/refund",
    description: "Refunds an order.",
    inputSchema: order,
    actionPolicy: "preview",
    execute: ({ order: number }) => {
      ran.push(number);
      return { refunded: number };
    },
  });
  const where = tool({ name: "client/where", description: "Asks the browser.", inputSchema: z.object({}) });
  return agent({ slug: "support", tools: [look, refund, where], model: scriptedModel(script) });
}

type ChatOptions = Partial<ChatInit<UIMessage>> & {
  readonly token?: string;
  readonly api?: string;
  readonly fetch?: typeof globalThis.fetch;
};

/** Where a chat is, and who talks. */
type Place = Pick<ChatWorld, "url" | "token">;

export function openChat(world: Place, { token = world.token, api = "/api/chat", fetch, ...init }: ChatOptions = {}) {
  const errors: Error[] = [];
  const chat = new Chat<UIMessage>({
    id: "customer-42",
    transport: new DefaultChatTransport({
      api: `${world.url}${api}`,
      headers: { authorization: `Bearer ${token}` },
      ...(fetch && { fetch }),
    }),
    onError: (error) => errors.push(error),
    ...init,
  });
  return Object.assign(chat, { errors });
}

export async function historyOf(world: Place, id = "customer-42", token = world.token): Promise<UIMessage[]> {
  const answer = await fetch(`${world.url}/api/chat/${id}`, { headers: { authorization: `Bearer ${token}` } });
  return (await answer.json()) as UIMessage[];
}

/** The messages without what a reload does not keep: ids that the browser made up, and marks of streaming. */
export function shown(messages: readonly UIMessage[]) {
  return messages.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "step-start") return "step";
      const { type, state, input, output, errorText, approval } = part as Record<string, unknown>;
      const { approved } = (approval ?? {}) as { readonly approved?: boolean };
      return JSON.parse(JSON.stringify({ type, state, input, output, errorText, approved }));
    }),
  }));
}

export function until(chat: Chat<UIMessage>, holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => holds() && resolve();
  const leave = [chat["~registerMessagesCallback"](look), chat["~registerStatusCallback"](look)];
  look();
  return promise.finally(() => {
    for (const each of leave) each();
  });
}

export function textOf(chat: Chat<UIMessage>): string {
  return chat.lastMessage?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
}

type Pending = { readonly input: unknown; readonly approval: { readonly id: string } };

export function pendingApproval(chat: Chat<UIMessage>): Pending | undefined {
  return chat.lastMessage?.parts.find((part) => "state" in part && part.state === "approval-requested") as
    | Pending
    | undefined;
}
