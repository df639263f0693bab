// Promise: a conversation is loaded from its end, page by page, and no message of it in two halves.
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { calls, callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { openChat, shown, support } from "./chat-client.ts";
import { type ChatWorld, chatWorld } from "./chat-world.ts";

const ROUNDS = 6;

async function grownChat() {
  const look = callsTool("shop/look", { order: "7" });
  const round = [calls(says("Let me look."), look, look), says("It was sent.")];
  const world = await chatWorld(support(Array.from({ length: ROUNDS }, () => round).flat()));
  const chat = openChat(world);
  for (let count = 1; count <= ROUNDS; count++) await chat.sendMessage({ text: `Where is order 7? (${count})` });
  expect(chat.errors).toEqual([]);
  return { world, chat };
}

async function load({ url, token }: ChatWorld, path: string) {
  const answer = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } });
  const [, next] = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get("link") ?? "") ?? [];
  return { status: answer.status, messages: (await answer.json()) as UIMessage[], next };
}

describe("the history of a chat", () => {
  it("comes whole when it is short", async () => {
    const { world, chat } = await grownChat();
    const { messages, next } = await load(world, "/api/chat/customer-42");
    expect(shown(messages)).toEqual(shown(chat.messages));
    expect(next).toBeUndefined();
  });

  it.each([1, 2, 5, 7, 8, 20, 42])(
    "comes in pages of %i messages of the thread, which make up the whole",
    async (limit) => {
      const { world, chat } = await grownChat();
      const whole = await load(world, "/api/chat/customer-42");
      const pages: UIMessage[][] = [];
      for (let path: string | undefined = `/api/chat/customer-42?limit=${limit}`; path !== undefined; ) {
        const page = await load(world, path);
        expect(page.messages).not.toEqual([]);
        pages.unshift(page.messages);
        path = page.next;
      }
      expect(pages.flat()).toEqual(whole.messages);
      expect(shown(pages.flat())).toEqual(shown(chat.messages));
      if (limit < 20) expect(pages.length).toBeGreaterThan(2);
    },
  );

  it("keeps the path and the query of whoever pages through it", async () => {
    const { world } = await grownChat();
    const { next } = await load(world, "/api/agents/support/chat/customer-42?limit=6");
    expect(next).toMatch(/^\/api\/agents\/support\/chat\/customer-42\?limit=6&before=\d+$/);
  });

  it.each(["limit=0", "limit=501", "limit=many", "before=-1", "before=x"])("refuses %s", async (query) => {
    const world = await chatWorld(support([]));
    expect((await load(world, `/api/chat/customer-42?${query}`)).status).toBe(400);
  });
});
