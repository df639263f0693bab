// A runtime that a server has: the command line comes through its HTTP door like everybody else, with a token.
import { setTimeout as pauseFor } from "node:timers/promises";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { StreamEvent } from "../abilities/follow.ts";
import { errorMessage } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import type { ShownRunEvent } from "../workflows/operations/events.ts";
import type { AbilitySummary, CallOptions, Client, FollowOptions } from "./client.ts";
import { Refusal } from "./refusal.ts";

/** A server, and what it is asked with. */
export type ServerDoor = {
  readonly url: string;
  readonly token: string | undefined;
  /** What to do when that lets nobody in. */
  readonly wayBack?: string;
  /** Whether the right one answers there, where a stranger might; asked before each request. */
  readonly isGenuine?: (signal?: AbortSignal | null) => Promise<boolean>;
};

export function openHttpClient({ url, token, wayBack, isGenuine }: ServerDoor): Client {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  /** A server that was there will be there again; one that nobody has reached may never be. */
  let wasReached = false;

  /** `read`: what the answer is read with. A connection can break there too. */
  async function request<Answer>(
    path: string,
    init: RequestInit,
    read: (response: Response) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    try {
      // Before each, since a server can end between two of them, and what comes to its port then is not to have the token.
      if (isGenuine && !(await isGenuine(init.signal))) throw new Error("somebody else is there");
      const headers = { ...authorization, ...(init.headers as Record<string, string>) };
      const response = await fetch(addressOf(url, path), { ...init, headers });
      wasReached = true;
      if (!response.ok) throw await refusalIn(response, wayBack);
      return await read(response);
    } catch (thrown) {
      if (thrown instanceof Refusal || init.signal?.aborted) throw thrown;
      throw unreachable(url, thrown);
    }
  }

  /** The events behind a path that says where the reader is, which `seen` follows; it is asked again after a lost connection. */
  async function* follow<Event>(
    path: () => string,
    seen: (event: Event) => void,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Event> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const frames = await request(path(), { ...(signal && { signal }) }, framesOf);
        for await (const frame of frames) {
          if (frame.event === "end") return;
          const event = JSON.parse(frame.data) as Event;
          seen(event);
          pause = FIRST_PAUSE_MS;
          yield event;
        }
      } catch (thrown) {
        if (signal?.aborted) return;
        if (thrown instanceof Refusal && !(wasReached && thrown.code === "server_unreachable")) throw thrown;
      }
      // The connection was lost, not the run: it goes on, and so does whoever follows it.
      await pauseFor(pause, undefined, { signal }).catch(() => undefined);
      if (signal?.aborted) return;
    }
  }

  function followThread(threadId: string, options: FollowOptions): AsyncIterable<StreamEvent> {
    let { after } = options;
    let live: string | undefined;
    const path = () => {
      const query = new URLSearchParams({
        ...(after !== undefined && { after }),
        ...(live !== undefined && { live }),
        ...(options.untilRest && { until: "rest" }),
      });
      return `/threads/${encodeURIComponent(threadId)}/stream?${query}`;
    };
    const seen = (event: StreamEvent) => {
      if ("id" in event) {
        after = event.id;
        live = undefined;
      } else if ("offset" in event) {
        live = `${event.step}.${event.attempt}.${event.offset + event.text.length}`;
      }
    };
    return follow(path, seen, options.signal);
  }

  function followRun(runId: string, { after: first, signal }: Pick<FollowOptions, "after" | "signal">) {
    let after = first;
    const path = () => {
      const query = new URLSearchParams({ ...(after !== undefined && { after }) });
      return `/workflow-runs/${encodeURIComponent(runId)}/stream?${query}`;
    };
    const seen = ({ id }: ShownRunEvent) => {
      after = id;
    };
    return follow(path, seen, signal);
  }

  return {
    place: url,
    async call<Answer>(ability: string, input: object = {}, { key, signal }: CallOptions = {}): Promise<Answer> {
      const asked = {
        method: "POST",
        headers: { "content-type": "application/json", ...(key !== undefined && { "idempotency-key": key }) },
        body: JSON.stringify(input),
        ...(signal && { signal }),
      };
      return await request(`/abilities/${ability}`, asked, jsonOf<Answer>);
    },
    async abilities() {
      return (await request("/abilities", {}, jsonOf<{ abilities: AbilitySummary[] }>)).abilities;
    },
    follow: followThread,
    followRun,
    async close() {},
  };
}

/** Below the server's own path, where it has one, such as behind a proxy. */
export function addressOf(url: string, path: string): URL {
  return new URL(`.${path}`, url.endsWith("/") ? url : `${url}/`);
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

async function jsonOf<Answer>(response: Response): Promise<Answer> {
  return (await response.json()) as Answer;
}

function framesOf(response: Response): AsyncIterable<{ readonly event?: string | undefined; readonly data: string }> {
  if (!response.body) throw new Error("The server sent no stream.");
  return response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
}

async function refusalIn(response: Response, wayBack: string | undefined): Promise<Refusal> {
  const body: unknown = await response.json().catch(() => undefined);
  const { code, detail, hint } = isMap(body) ? body : {};
  const message = typeof detail === "string" ? detail : `The server answered ${response.status}.`;
  const known = typeof code === "string" ? code : "server_failed";
  const told = typeof hint === "string" ? hint : undefined;
  return new Refusal({ code: known, message }, response.status === 401 ? (wayBack ?? told) : told);
}

function unreachable(url: string, thrown: unknown): Refusal {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  return new Refusal(
    { code: "server_unreachable", message: `${url} does not answer: ${errorMessage(cause)}` },
    "Start it with holdfast serve, or leave HOLDFAST_URL out to work on the database itself.",
    thrown,
  );
}
