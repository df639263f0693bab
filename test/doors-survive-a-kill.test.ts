// Promise: whoever talks with a thread over HTTP goes on with it after its server was killed in the middle of an answer and
// started again: an EventSource, a chat of the AI SDK and a plain reader are told everything, and nothing twice.
import { EventSource } from "eventsource";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { expect, it, onTestFinished } from "vitest";
import type { StreamEvent } from "../src/threads/stream/stream.ts";
import { startProcess } from "./another-process.ts";
import { historyOf, openChat, shown, textOf, until } from "./chat-client.ts";
import { sqliteWorld } from "./databases.ts";
import { Client } from "./following.ts";
import { FIRST_WORDS, type Given, type Served, WORDS } from "./serving-runtime.ts";

const program = new URL("./serving-runtime.ts", import.meta.url).href;

/** Something that is known to have happened once somebody has said so. */
function milestones() {
  const [heard, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return { heard, ended };
}

/** An EventSource, which comes back by itself: the ids that it was told, and the answers. */
function openSource(url: string, authorization: string) {
  const { heard, ended } = milestones();
  const ids: string[] = [];
  const answers: unknown[] = [];
  const source = new EventSource(url, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, authorization } }),
  });
  onTestFinished(() => source.close());
  source.addEventListener("message", ({ data }) => {
    const event = JSON.parse(data) as StreamEvent;
    if ("id" in event) ids.push(event.id);
    if (event.type === "text.delta" && event.text === FIRST_WORDS) heard.resolve();
    if (event.type === "message.added" && event.message.type === "text" && event.message.role === "assistant") {
      answers.push(event.message.content);
    }
    if (event.type === "run.ended") ended.resolve();
  });
  return { ids, answers, heard: heard.promise, ended: ended.promise };
}

/** Reads with nothing but fetch, and comes back with where it was until it is told that this was all. */
function readPlainly(url: string, authorization: string) {
  const { heard, ended } = milestones();
  const client = new Client();
  async function read(): Promise<void> {
    for (;;) {
      const { after, live } = client.position;
      const query = new URLSearchParams({
        ...{ until: "rest", ...(after !== undefined && { after }) },
        ...(live && { live: `${live.step}.${live.attempt}.${live.offset}` }),
      });
      try {
        const { body } = await fetch(`${url}?${query}`, { headers: { authorization } });
        const frames = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
        for await (const { event, data } of frames ?? []) {
          if (event === "end") return;
          client.take(JSON.parse(data) as StreamEvent);
          if (client.heard.text === FIRST_WORDS) heard.resolve();
        }
      } catch (thrown) {
        // Only what a broken connection does to a fetch.
        if (!(thrown instanceof TypeError)) throw thrown;
      }
    }
  }
  void read().then(ended.resolve, ended.reject);
  return { client, heard: heard.promise, ended: ended.promise };
}

it("a server that is killed in the middle of an answer and started again goes on with it at every door", async () => {
  const world = await sqliteWorld();
  const serving = async (given: Given) => {
    const server = startProcess(world, program, given);
    return { ...(JSON.parse(await server.says()) as Served), end: server.end };
  };
  const first = await serving({});
  const { url, token } = first;
  const authorization = `Bearer ${token}`;
  const ask = async (path: string, json?: object) => {
    const headers = { authorization, "content-type": "application/json" };
    const sent = json ? { method: "POST", body: JSON.stringify(json) } : {};
    return JSON.parse(await (await fetch(`${url}${path}`, { headers, ...sent })).text());
  };
  // What a chat calls its thread is what any other door calls it.
  const { id } = await ask("/threads", { agent: "talker", key: "customer-42" });
  const chat = openChat({ url, token });
  const sending = chat.sendMessage({ text: "How is the sea?" });
  const source = openSource(`${url}/threads/${id}/stream`, authorization);
  const plain = readPlainly(`${url}/threads/${id}/stream`, authorization);
  await Promise.all([until(chat, () => textOf(chat) === FIRST_WORDS), source.heard, plain.heard]);

  await first.end("SIGKILL");
  await sending;
  expect(chat.status).toBe("error");
  await serving({ port: Number(new URL(url).port) });
  await chat.resumeStream();
  await Promise.all([source.ended, plain.ended]);

  expect(shown(chat.messages)).toMatchObject([
    { role: "user", parts: ["How is the sea?"] },
    { role: "assistant", parts: ["step", { type: "tool-sea/look", output: "calm" }, "step", WORDS] },
  ]);
  expect(shown(await historyOf({ url, token }))).toEqual(shown(chat.messages));
  // Whoever comes back when the answer is committed is told no piece of it any more.
  expect(plain.client.answers).toMatchObject([{ words: WORDS }]);
  expect(source.answers).toEqual([WORDS]);
  expect(new Set(source.ids).size).toBe(source.ids.length);
  expect(source.ids).toEqual(plain.client.ids);
  const { messages } = await ask(`/threads/${id}/messages`);
  const types = messages.map(({ message }: { message: { type: string } }) => message.type);
  expect(types).toEqual(["text", "tool_call", "tool_result", "text"]);
});
