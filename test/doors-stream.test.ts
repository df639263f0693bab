// Promise: a thread can be followed over HTTP through connections that break at any byte, and nothing is lost and nothing
// told twice; following costs the run nothing, and neither does leaving.
import { once } from "node:events";
import { connect } from "node:net";
import { EventSource } from "eventsource";
import { EventSourceParserStream } from "eventsource-parser/stream";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Holdfast } from "../src/holdfast.ts";
import type { Model } from "../src/models/model.ts";
import { type RunningServer, type ServeOptions, serve } from "../src/server/serve.ts";
import { agent } from "../src/threads/agent.ts";
import type { StreamEvent } from "../src/threads/stream/stream.ts";
import { tool } from "../src/threads/tool.ts";
import { startCuttingProxy } from "./cutting-proxy.ts";
import { eachDatabase, sqliteWorld, type World } from "./databases.ts";
import { eventually } from "./eventually.ts";
import { Client, committed } from "./following.ts";

const words = ["Once ", "upon ", "a ", "time ", "there ", "was ", "a ", "crab 🦀", "\nand ", "a ", "stone."];

/** Says its words one after another, looks at something, and says them again. */
const storyteller: Model = async (messages, _context, { onDelta }) => {
  for (const text of words) {
    onDelta?.({ type: "text", text });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const hasLooked = messages.some(({ type }) => type === "tool_result");
  const look = { name: "sea/look", parameters: { depth: 3 } };
  return { content: words.join(""), tool_calls: hasLooked ? [] : [look] };
};

const sea = tool({ name: "sea/look", description: "Looks at the sea.", execute: () => ({ fish: 7 }) });

type Sea = { readonly holdfast: Holdfast; readonly server: RunningServer; readonly authorization: string };

async function openSea(world: World, options: ServeOptions = {}): Promise<Sea> {
  const holdfast = await world.open(agent({ slug: "teller", model: storyteller, tools: [sea] }));
  const { token } = await holdfast.tokens.create({ agent: "teller", owner_user_id: 1 });
  const server = await serve(holdfast, { port: 0, rate: false, retryMs: 5, ...options });
  onTestFinished(() => server.close());
  return { holdfast, server, authorization: `Bearer ${token}` };
}

async function newThread({ server, authorization }: Sea, key: string): Promise<string> {
  const headers = { authorization, "content-type": "application/json" };
  const body = JSON.stringify({ agent: "teller", key });
  const response = await fetch(`${server.url}/threads`, { method: "POST", headers, body });
  return ((await response.json()) as { id: string }).id;
}

/** Comes back with where it was, until it is told that this was all. */
async function followThrough(url: string, path: string, authorization: string): Promise<Client> {
  const client = new Client();
  for (;;) {
    const { after, live } = client.position;
    const query = new URLSearchParams({
      until: "rest",
      ...(after !== undefined && { after }),
      ...(live && { live: `${live.step}.${live.attempt}.${live.offset}` }),
    });
    try {
      const response = await fetch(`${url}${path}?${query}`, { headers: { authorization } });
      const frames = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const { event, data } of frames ?? []) {
        if (event === "end") return client;
        client.take(JSON.parse(data) as StreamEvent);
      }
    } catch (thrown) {
      // Only what a broken connection does to a fetch; what the client says about wrong events is told.
      if (!(thrown instanceof TypeError)) throw thrown;
    }
  }
}

eachDatabase((newWorld, database) => {
  it("cut at any bytes, it is told everything once, in order, words included", async () => {
    const sea = await openSea(await newWorld());
    let number = 0;
    const lengths = fc.array(fc.integer({ min: 0, max: 6_000 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lengths, async (cuts) => {
        const id = await newThread(sea, `story ${number++}`);
        const thread = await sea.holdfast.threads.get(id);
        const proxy = await startCuttingProxy(sea.server.url, cuts);
        const sent = thread.send("Tell me.");
        const client = await followThrough(proxy.url, `/threads/${id}/stream`, sea.authorization);
        await proxy.close();
        expect(await sent).toMatchObject({ status: "completed" });
        expect(client.ids).toEqual((await committed(thread)).map((event) => event.id));
        expect(client.answers.map((answer) => answer.words)).toEqual([words.join(""), words.join("")]);
      }),
      { numRuns: database === "sqlite" ? 20 : 6 },
    );
  });

  it("an EventSource whose connection is cut again and again is told every committed event once", async () => {
    const sea = await openSea(await newWorld());
    const id = await newThread(sea, "source");
    const thread = await sea.holdfast.threads.get(id);
    const proxy = await startCuttingProxy(sea.server.url, [900, 1_000, 1_101, 1_302, 1_503, 1_704, 1_905]);
    const source = new EventSource(`${proxy.url}/threads/${id}/stream?until=rest`, {
      fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, authorization: sea.authorization } }),
    });
    const ids: string[] = [];
    const ended = new Promise<void>((resolve) => {
      source.addEventListener("message", ({ data }) => {
        const { id: own } = JSON.parse(data);
        if (own !== undefined) ids.push(own);
      });
      source.addEventListener("end", () => {
        source.close();
        resolve();
      });
    });
    await thread.send("Tell me.");
    await ended;
    expect(ids).toEqual((await committed(thread)).map((event) => event.id));
    expect(proxy.cuts()).toBeGreaterThan(2);
    await proxy.close();
  });
});

/** How a page follows a stream that has no way to send a header: with a ticket, and with another each time it comes back. */
async function followAsPage(url: string, fetchTicket: () => Promise<string>, show: (data: string) => void) {
  const ended = Promise.withResolvers<void>();
  let after = "";
  async function open(): Promise<void> {
    const query = new URLSearchParams({ ticket: await fetchTicket(), until: "rest", ...(after !== "" && { after }) });
    const source = new EventSource(`${url}?${query}`);
    source.onmessage = ({ data, lastEventId }) => {
      after = lastEventId || after;
      show(data);
    };
    source.onerror = () => {
      // By itself it would come back with the same URL, and the ticket in it is used up.
      source.close();
      void open();
    };
    source.addEventListener("end", () => {
      source.close();
      ended.resolve();
    });
  }
  await open();
  await ended.promise;
}

describe("a stream over HTTP", () => {
  it("is followed with tickets by a page that can send no header, a new one whenever it was cut", async () => {
    const sea = await openSea(await sqliteWorld());
    const id = await newThread(sea, "page");
    const thread = await sea.holdfast.threads.get(id);
    const pathname = `/threads/${id}/stream`;
    const tickets: string[] = [];
    const fetchTicket = async () => {
      const headers = { authorization: sea.authorization, "content-type": "application/json" };
      const asked = { method: "POST", headers, body: JSON.stringify({ pathname }) };
      const { ticket } = JSON.parse(await (await fetch(`${sea.server.url}/auth/stream-ticket`, asked)).text());
      tickets.push(ticket);
      return ticket as string;
    };
    const proxy = await startCuttingProxy(sea.server.url, [900, 1_400, 2_000]);
    onTestFinished(() => proxy.close());
    const ids: string[] = [];
    const following = followAsPage(`${proxy.url}${pathname}`, fetchTicket, (data) => {
      const event = JSON.parse(data) as StreamEvent;
      if ("id" in event) ids.push(event.id);
    });
    await thread.send("Tell me.");
    await following;
    expect(ids).toEqual((await committed(thread)).map((event) => event.id));
    expect(tickets).toHaveLength(1 + proxy.cuts());
    expect(proxy.cuts()).toBeGreaterThan(0);
    expect((await fetch(`${sea.server.url}${pathname}?ticket=${tickets.at(-1)}`)).status).toBe(401);
  });

  eachDatabase((newWorld) => {
    it("ends for whoever comes back behind the end", async () => {
      const sea = await openSea(await newWorld());
      const id = await newThread(sea, "ended");
      const thread = await sea.holdfast.threads.get(id);
      await thread.send("Tell me.");
      const last = (await committed(thread)).at(-1)?.id;
      const ask = async (headers: Record<string, string>, query = "") => {
        const url = `${sea.server.url}/threads/${id}/stream?until=rest${query}`;
        return await (await fetch(url, { headers: { authorization: sea.authorization, ...headers } })).text();
      };
      const end = 'retry: 5\n\nevent: end\ndata: {"type":"stream.ended"}\n\n';
      expect(await ask({ "Last-Event-ID": last ?? "" })).toBe(end);
      expect(await ask({}, `&after=${last}`)).toBe(end);
      // What an EventSource says that it saw last counts more than the URL that it was opened with.
      expect(await ask({ "Last-Event-ID": last ?? "" }, "&after=0.0")).toBe(end);
    });

    it("that nobody reads any more stops no run, and is forgotten", async () => {
      const sea = await openSea(await newWorld(), { maxStreams: 1 });
      const id = await newThread(sea, "left");
      const thread = await sea.holdfast.threads.get(id);
      const leaving = new AbortController();
      const { body } = await fetch(`${sea.server.url}/threads/${id}/stream`, {
        headers: { authorization: sea.authorization },
        signal: leaving.signal,
      });
      const sent = thread.send("Tell me.");
      await body?.getReader().read();
      leaving.abort();
      expect(await sent).toMatchObject({ status: "completed" });
      await eventually(async () => {
        const again = await fetch(`${sea.server.url}/threads/${id}/stream`, {
          headers: { authorization: sea.authorization },
        });
        await again.body?.cancel();
        expect(again.status).toBe(200);
      });
    });

    it("beats while nothing happens", async () => {
      const sea = await openSea(await newWorld(), { heartbeatMs: 10 });
      const id = await newThread(sea, "idle");
      const { body } = await fetch(`${sea.server.url}/threads/${id}/stream`, {
        headers: { authorization: sea.authorization },
      });
      let heard = "";
      for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
        heard += piece;
        if (heard.endsWith(":\n\n:\n\n:\n\n")) break;
      }
      // A reader that was held up hears several beats at once.
      expect(heard).toMatch(/^retry: 5\n\n(:\n\n){3,}$/);
    });

    it("ends with what is wrong with its thread", async () => {
      const world = await newWorld();
      const sea = await openSea(world);
      const id = await newThread(sea, "stuck");
      await world.sql(`update threads set status = 'stuck' where id = '${id}'`);
      const url = `${sea.server.url}/threads/${id}/stream?until=rest`;
      const said = await (await fetch(url, { headers: { authorization: sea.authorization } })).text();
      const [, data = ""] = /\n\nevent: end\ndata: (.*)\n\n$/.exec(said) ?? [];
      expect(JSON.parse(data)).toMatchObject({ type: "stream.failed", code: "thread_stuck", status: 409 });
    });

    it("that its reader does not take is dropped, and the run goes on", async () => {
      const sea = await openSea(await newWorld(), { heartbeatMs: 20, maxStreams: 1 });
      const id = await newThread(sea, "slow");
      const thread = await sea.holdfast.threads.get(id);
      // More than all the buffers on the way hold.
      const long = "x".repeat(1_000_000);
      for (let count = 0; count < 20; count++) await thread.queueMessage(`${count} ${long}`, { silent: true });
      await thread.send("Tell me.");
      const { hostname, port, host } = new URL(sea.server.url);
      const socket = connect(Number(port), hostname);
      onTestFinished(() => {
        socket.destroy();
      });
      const statusOfAnother = async () => {
        const url = `${sea.server.url}/threads/${id}/stream?after=now`;
        const { body, status } = await fetch(url, { headers: { authorization: sea.authorization } });
        await body?.cancel();
        return status;
      };
      const request = `GET /threads/${id}/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${sea.authorization}\r\n\r\n`;
      socket.write(request);
      await once(socket, "data");
      socket.pause();
      // It goes on for ever, so that nothing but being dropped makes room for another.
      await eventually(async () => expect(await statusOfAnother()).toBe(200));
      expect(await thread.send("And again.")).toMatchObject({ status: "completed" });
    });
  });
});
