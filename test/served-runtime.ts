// A runtime behind a real server, as tests of its doors use it: an owner, two users who know nothing of each other, and
// ways to send requests that no HTTP client would send.
import { connect } from "node:net";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { createHoldfast, type Holdfast, type HoldfastOptions } from "../src/holdfast.ts";
import { says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type RunningServer, type ServeOptions, serve } from "../src/server/serve.ts";
import { type Agent, agent } from "../src/threads/agent.ts";

export type Answer = { readonly status: number; readonly code: string | undefined; readonly text: string };

export type Served = {
  readonly holdfast: Holdfast;
  readonly server: RunningServer;
  readonly url: string;
  /** Tokens, by who holds them. */
  readonly owner: string;
  readonly alice: string;
  readonly bob: string;
  /** A request with a token, and JSON if there is any. */
  ask(token: string | undefined, path: string, init?: RequestInit & { json?: unknown }): Promise<Answer>;
  /** Bytes as they are; what comes back until the connection ends. `HOST` stands for where the server is. */
  send(...pieces: readonly string[]): Promise<Answer>;
  /** A new thread of whoever holds the token. */
  openThread(token: string, key: string): Promise<string>;
  close(): Promise<void>;
};

export async function serveRuntime(
  options: ServeOptions = {},
  runtime: Partial<HoldfastOptions> & { readonly agents?: readonly Agent[] } = {},
): Promise<Served> {
  const holdfast = await createHoldfast({
    backend: sqlite(":memory:"),
    agents: [agent({ slug: "helper", model: scriptedModel(Array.from({ length: 100 }, () => says("Yes."))) })],
    trust: { administrators: [1] },
    ...runtime,
  });
  const tokenOf = async (owner_user_id: number) =>
    (await holdfast.tokens.create({ agent: "helper", owner_user_id })).token;
  const [owner, alice, bob] = [await tokenOf(1), await tokenOf(2), await tokenOf(3)];
  const server = await serve(holdfast, { port: 0, rate: false, failureRate: false, ...options });
  const { url } = server;

  const served: Served = {
    ...{ holdfast, server, url, owner, alice, bob },
    async ask(token, path, { json, headers, ...init } = {}) {
      const response = await fetch(new URL(path, url), {
        ...init,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(json !== undefined && { "content-type": "application/json" }),
          ...(headers as Record<string, string>),
        },
        ...(json !== undefined && { method: init.method ?? "POST", body: JSON.stringify(json) }),
      });
      return answerOf(response.status, await response.text());
    },
    send: (...pieces) => sendBytes(url, pieces),
    async openThread(token, key) {
      const { text } = await served.ask(token, "/threads", { json: { agent: "helper", key } });
      return JSON.parse(text).id;
    },
    async close() {
      await server.close();
      await holdfast.close();
    },
  };
  return served;
}

async function sendBytes(url: string, pieces: readonly string[]): Promise<Answer> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding("utf8");
  let received = "";
  for (const piece of pieces) socket.write(piece.replaceAll("HOST", host), "latin1");
  try {
    for await (const piece of socket) {
      received += piece;
      if (isWhole(received)) break;
    }
  } catch {
    // What was received before the connection broke counts.
  }
  socket.destroy();
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0);
  return answerOf(status, received.slice(received.indexOf("\r\n\r\n") + 4));
}

function isWhole(received: string): boolean {
  const [head = "", body] = received.split("\r\n\r\n", 2);
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  return body !== undefined && length !== undefined && Buffer.byteLength(body) >= Number(length);
}

function answerOf(status: number, text: string): Answer {
  const code = text.startsWith("{") ? (JSON.parse(text) as { code?: string }).code : undefined;
  return { status, code, text };
}
