// A runtime that a server has: the command line comes through its HTTP door like everybody else, with a token.
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { StreamEvent } from "../abilities/follow.ts";
import { errorMessage } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import type { AbilitySummary, CallOptions, Client, FollowOptions } from "./client.ts";
import { Refusal } from "./refusal.ts";

export function openHttpClient(url: string, token: string | undefined): Client {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };

  async function request(path: string, init: RequestInit): Promise<Response> {
    try {
      const headers = { ...authorization, ...(init.headers as Record<string, string>) };
      const response = await fetch(new URL(path, url), { ...init, headers });
      if (response.ok) return response;
      throw await refusalIn(response);
    } catch (thrown) {
      if (thrown instanceof Refusal || init.signal?.aborted) throw thrown;
      throw unreachable(url, thrown);
    }
  }

  async function* follow(threadId: string, options: FollowOptions): AsyncGenerator<StreamEvent> {
    let { after } = options;
    let live: string | undefined;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const query = new URLSearchParams({
        ...(after !== undefined && { after }),
        ...(live !== undefined && { live }),
        ...(options.untilRest && { until: "rest" }),
      });
      try {
        const path = `/threads/${encodeURIComponent(threadId)}/stream?${query}`;
        const response = await request(path, { ...(options.signal && { signal: options.signal }) });
        for await (const frame of framesOf(response)) {
          if (frame.event === "end") return;
          const event = JSON.parse(frame.data) as StreamEvent;
          if ("id" in event) {
            after = event.id;
            live = undefined;
          } else if ("offset" in event) {
            live = `${event.step}.${event.attempt}.${event.offset + event.text.length}`;
          }
          pause = FIRST_PAUSE_MS;
          yield event;
        }
      } catch (thrown) {
        if (options.signal?.aborted) return;
        if (thrown instanceof Refusal && thrown.code !== "server_unreachable") throw thrown;
      }
      // The connection was lost, not the run: it goes on, and so does whoever follows it.
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (options.signal?.aborted) return;
    }
  }

  return {
    place: url,
    async call<Answer>(ability: string, input: object = {}, { key, signal }: CallOptions = {}): Promise<Answer> {
      const response = await request(`/abilities/${ability}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(key !== undefined && { "idempotency-key": key }) },
        body: JSON.stringify(input),
        ...(signal && { signal }),
      });
      return (await response.json()) as Answer;
    },
    async abilities() {
      const { abilities } = (await (await request("/abilities", {})).json()) as { abilities: AbilitySummary[] };
      return abilities;
    },
    follow,
    async close() {},
  };
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

function framesOf(response: Response): AsyncIterable<{ readonly event?: string | undefined; readonly data: string }> {
  if (!response.body) throw new Error("The server sent no stream.");
  return response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
}

async function refusalIn(response: Response): Promise<Refusal> {
  const body: unknown = await response.json().catch(() => undefined);
  const { code, detail, hint } = isMap(body) ? body : {};
  const message = typeof detail === "string" ? detail : `The server answered ${response.status}.`;
  const known = typeof code === "string" ? code : "server_failed";
  return new Refusal({ code: known, message }, typeof hint === "string" ? hint : undefined);
}

function unreachable(url: string, thrown: unknown): Refusal {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  return new Refusal(
    { code: "server_unreachable", message: `${url} does not answer: ${errorMessage(cause)}` },
    "Start it with holdfast serve, or leave HOLDFAST_URL out to work on the database itself.",
    thrown,
  );
}
