// The world outside: a real HTTP server that counts what is done to it, so that nothing is taken for done because our own
// database says so. It lives in the process that survives.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Something that is done outside, such as a charge. */
export type Effect = {
  readonly name: string;
  /** What makes a repeat the same effect, as payment providers ask for it; without one every time is another effect. */
  readonly key?: string;
  /** Anything else that is worth knowing of it. */
  readonly [detail: string]: unknown;
};

/** An effect that has happened, and how often it was asked for under its key. */
export type RecordedEffect = Effect & { readonly times: number };

export type EffectLedger = {
  readonly url: string;
  /** What has happened, each effect once, in the order in which it was first asked for. */
  effects(): readonly RecordedEffect[];
  /** Lets those go on who wait for this note. */
  note(name: string): void;
  /** Resolves once somebody has left this note. */
  noted(name: string): Promise<void>;
  close(): Promise<void>;
};

/**
 * `POST /effects` takes an effect, `GET /effects` lists them all, and `GET /effects/<key>` tells how often one was asked
 * for. Notes are how processes wait for each other without looking at the clock: `GET /notes/<name>` answers once
 * somebody has left it with `POST`.
 */
export async function startEffectLedger(): Promise<EffectLedger> {
  const effects: RecordedEffect[] = [];
  const notes = new Set<string>();
  const waiting = new Map<string, (() => void)[]>();

  function record(effect: Effect): RecordedEffect {
    const { name, key } = effect;
    const at = key === undefined ? -1 : effects.findIndex((known) => known.key === key && known.name === name);
    const known = effects[at];
    const recorded = known ? { ...known, times: known.times + 1 } : { ...effect, times: 1 };
    if (known) effects[at] = recorded;
    else effects.push(recorded);
    return recorded;
  }

  function note(name: string): void {
    notes.add(name);
    for (const wake of waiting.get(name) ?? []) wake();
    waiting.delete(name);
  }

  function noted(name: string): Promise<void> {
    if (notes.has(name)) return Promise.resolve();
    return new Promise((resolve) => waiting.set(name, [...(waiting.get(name) ?? []), resolve]));
  }

  async function answer({ method, url = "" }: IncomingMessage, text: string): Promise<unknown> {
    const [kind, name] = url.slice(1).split("/").map(decodeURIComponent);
    const isPost = method === "POST";
    if (kind === "effects" && name !== undefined) return { count: timesOf(effects, name) };
    if (kind === "effects") return isPost ? record(JSON.parse(text) as Effect) : effects;
    if (kind !== "notes" || name === undefined) throw new Error(`There is no ${method} ${url}.`);
    if (isPost) note(name);
    else await noted(name);
    return {};
  }

  // Loaded only now: it takes longer than everything else that whoever wants the scripted model has to load.
  const { createServer } = await import("node:http");
  const server = createServer(async (request, response) => {
    try {
      reply(response, 200, await answer(request, await textOf(request)));
    } catch (error) {
      // A process that was killed in the middle of a word has done nothing, and is not there to be told.
      reply(response, 400, { error: String(error) });
    }
  });
  server.on("clientError", (_, socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The ledger has no address.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    effects: () => [...effects],
    note,
    noted,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function timesOf(effects: readonly RecordedEffect[], key: string): number {
  return effects.filter((effect) => effect.key === key).reduce((sum, { times }) => sum + times, 0);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}
