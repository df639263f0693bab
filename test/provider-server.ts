// A provider on loopback: speaks the protocols of OpenAI (chat completions) and Anthropic (messages) as streams, says
// what a script tells it to, and fails in every way that a provider and a network can.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicError, anthropicEvents } from "./provider-server-anthropic.ts";
import { openaiError, openaiEvents } from "./provider-server-openai.ts";
import type { Fault, Reply } from "./provider-server-reply.ts";

export type Protocol = "openai" | "anthropic";

export type ProviderRequest = {
  readonly protocol: Protocol;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it knows was sent.
  readonly body: any;
  /** Once the answer is over. False when the other side had hung up before. */
  readonly ended: Promise<boolean>;
};

type Script = readonly Reply[] | ((request: ProviderRequest, index: number) => Reply);

export type ProviderServer = {
  /** For `baseURL` and `OPENAI_BASE_URL`; any key will do. */
  readonly url: string;
  /** All that came, in order. */
  readonly requests: readonly ProviderRequest[];
  /** The request of that number, counted from 0, as soon as it has come. */
  request(index: number): Promise<ProviderRequest>;
  close(): Promise<void>;
};

/** Starts a server. A request for which the script has no reply is refused with status 400. */
export async function startProviderServer({ script }: { readonly script: Script }): Promise<ProviderServer> {
  const requests: ProviderRequest[] = [];
  const waiting = new Map<number, ((request: ProviderRequest) => void)[]>();

  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy());
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await read(incoming, response);
    if (!request) return void response.writeHead(404).end();
    const index = requests.push(request) - 1;
    for (const tell of waiting.get(index) ?? []) tell(request);
    const reply = typeof script === "function" ? script(request, index) : script[index];
    const ended = { fault: { status: 400, message: `The script has no reply ${index + 1}.` } };
    await answer(request, response, reply ?? ended);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    request(index) {
      const known = requests[index];
      if (known) return Promise.resolve(known);
      return new Promise((resolve) => waiting.set(index, [...(waiting.get(index) ?? []), resolve]));
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** All that is sent of an answer, in the order in which it is sent. */
export function eventsOf(protocol: Protocol, reply: Reply): readonly string[] {
  return protocol === "openai" ? openaiEvents(reply) : anthropicEvents(reply);
}

async function read(incoming: IncomingMessage, response: ServerResponse): Promise<ProviderRequest | undefined> {
  const path = incoming.url ?? "";
  const protocol = path.endsWith("/chat/completions") ? "openai" : path.endsWith("/messages") ? "anthropic" : undefined;
  if (incoming.method !== "POST" || !protocol) return undefined;
  const ended = new Promise<boolean>((resolve) => response.once("close", () => resolve(response.writableFinished)));
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString());
  return { protocol, path, headers: incoming.headers, body, ended };
}

async function answer({ protocol }: ProviderRequest, response: ServerResponse, reply: Reply): Promise<void> {
  const { fault } = reply;
  if (fault && "hangsUp" in fault) return void response.destroy();
  if (fault && "status" in fault) return refuse(protocol, response, fault);
  const events = eventsOf(protocol, reply);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  if (!fault) return void response.end(events.join(""));
  if ("cutAfterBytes" in fault) {
    await send(response, bytesOf(events, fault.cutAfterBytes));
    return void response.destroy();
  }
  if ("endsAfterBytes" in fault) return void response.end(bytesOf(events, fault.endsAfterBytes));
  if ("malformedAfter" in fault) {
    const at = fault.malformedAfter;
    return void response.end([...events.slice(0, at), 'data: {"broken":\n\n', ...events.slice(at)].join(""));
  }
  if ("errorAfter" in fault) {
    const { errorAfter, message = "Overloaded", type = "overloaded_error" } = fault;
    return void response.end([...events.slice(0, errorAfter), errorEvent(protocol, type, message)].join(""));
  }
  if ("stallsAfter" in fault) return send(response, events.slice(0, fault.stallsAfter).join(""));
  await send(response, events.slice(0, fault.pingsAfter).join(""));
  for (let sent = 0; sent < fault.pings && !response.destroyed; sent++) {
    await send(response, ping(protocol));
  }
  response.end(events.slice(fault.pingsAfter).join(""));
}

function refuse(protocol: Protocol, response: ServerResponse, fault: Extract<Fault, { status: number }>): void {
  const { status, message = `Status ${status}.`, headers } = fault;
  const error = protocol === "openai" ? openaiError("error", message) : anthropicError("api_error", message);
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(error));
}

function errorEvent(protocol: Protocol, type: string, message: string): string {
  if (protocol === "openai") return `data: ${JSON.stringify(openaiError(type, message))}\n\n`;
  return `event: error\ndata: ${JSON.stringify(anthropicError(type, message))}\n\n`;
}

/** A chunk that says nothing is what OpenAI-compatible servers send to be heard; comments do not get past a parser. */
function ping(protocol: Protocol): string {
  return protocol === "openai" ? 'data: {"choices":[]}\n\n' : 'event: ping\ndata: {"type":"ping"}\n\n';
}

function bytesOf(events: readonly string[], count: number): Buffer {
  return Buffer.from(events.join("")).subarray(0, count);
}

/** Resolves once the bytes have left: what follows must not overtake them. */
function send(response: ServerResponse, bytes: string | Buffer): Promise<void> {
  if (bytes.length === 0) return Promise.resolve();
  return new Promise((resolve) => response.write(bytes, () => resolve()));
}
