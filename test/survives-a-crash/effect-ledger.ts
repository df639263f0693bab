// The world outside: a real HTTP server that counts what arrives, so that nothing is taken for done because our own
// database says so. It lives in the process that survives.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** One request to do something, as it came in. */
export type Arrival = { readonly key: string; readonly what: string; readonly thread: string };

export type EffectLedger = {
  readonly url: string;
  /** What arrived from a thread, in order. */
  arrivalsOf(thread: string): readonly Arrival[];
  /** Lets those go on who wait for this note. */
  note(name: string): void;
  /** Resolves once somebody has left this note. */
  noted(name: string): Promise<void>;
  close(): Promise<void>;
};

/**
 * `POST /effects` takes an effect, as often as it comes; `GET /effects/<key>` tells how often it came. Notes are how
 * processes wait for each other without looking at the clock: `GET /notes/<name>` answers once somebody has left it.
 */
export async function startEffectLedger(): Promise<EffectLedger> {
  const arrivals: Arrival[] = [];
  const notes = new Set<string>();
  const waiting = new Map<string, (() => void)[]>();

  function note(name: string): void {
    notes.add(name);
    for (const wake of waiting.get(name) ?? []) wake();
    waiting.delete(name);
  }

  function noted(name: string): Promise<void> {
    if (notes.has(name)) return Promise.resolve();
    return new Promise((resolve) => waiting.set(name, [...(waiting.get(name) ?? []), resolve]));
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [kind, name = ""] = (request.url ?? "").slice(1).split("/").map(decodeURIComponent);
    if (request.method === "POST" && kind === "effects") {
      arrivals.push(JSON.parse(await textOf(request)) as Arrival);
      reply(response, { taken: true });
    } else if (kind === "effects") {
      reply(response, { count: arrivals.filter(({ key }) => key === name).length });
    } else if (request.method === "POST" && kind === "notes") {
      note(name);
      reply(response, {});
    } else {
      await noted(name);
      reply(response, {});
    }
  }

  const server = createServer((request, response) => void answer(request, response));
  // A process that was killed leaves its half of a connection behind; nobody has to hear of it.
  server.on("clientError", (_, socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The ledger has no address.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    arrivalsOf: (thread) => arrivals.filter((arrival) => arrival.thread === thread),
    note,
    noted,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

function reply(response: ServerResponse, body: object): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}
