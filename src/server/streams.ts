// Following a thread over HTTP, as server-sent events. Only what is committed carries an id; what a model is saying has a
// place of its own, with which a reader comes back in the middle of it.
import type { Context } from "hono";
import { FOLLOW_THREAD } from "../abilities/follow.ts";
import type { JsonMap } from "../contracts/json.ts";
import {
  isOperationError,
  type OperationError,
  operationError,
  operationErrorOf,
} from "../contracts/operation-error.ts";
import type { Mount, ServerEnv, ServerHost } from "./door.ts";
import { eventStream, type Frame } from "./event-stream.ts";
import { problem, problemOf } from "./problem.ts";
import type { ServerOptions } from "./server-options.ts";

type Told = { readonly id?: string; readonly type: string };

export function streamsDoor({ heartbeatMs, retryMs }: Pick<ServerOptions, "heartbeatMs" | "retryMs">): Mount {
  const pace = { ...(heartbeatMs !== undefined && { heartbeatMs }), ...(retryMs !== undefined && { retryMs }) };
  return (app, host) => {
    app.get("/threads/:thread_id/stream", async (context, next) => {
      // No id: somebody looks for the thread whose key is "stream".
      if (context.req.param("thread_id") === "by-key") return await next();
      const wanted = positionOf(context);
      if (isOperationError(wanted)) return problem(context, wanted);
      const leaving = new AbortController();
      const events = await follow(context, host, wanted.input, leaving.signal);
      if (isOperationError(events)) return problem(context, events);
      const frames = framesOf(events, wanted, context.get("requestId"), leaving.signal);
      return eventStream(context, frames, { closing: host.closing, leaving, ...pace });
    });
  };
}

async function follow(
  context: Context<ServerEnv>,
  { holdfast }: ServerHost,
  input: JsonMap,
  signal: AbortSignal,
): Promise<AsyncIterable<Told> | OperationError> {
  const caller = { principal: context.get("principal"), door: "http", signal } as const;
  return (await holdfast.abilities.call(FOLLOW_THREAD, input, caller)) as AsyncIterable<Told> | OperationError;
}

type Wanted = { readonly input: JsonMap; readonly untilRest: boolean };

/** What the query asks for. An EventSource comes back with the same query, and says in a header where it was. */
function positionOf(context: Context<ServerEnv>): Wanted | OperationError {
  const { after, run, live, until } = context.req.query();
  const seen = context.req.header("last-event-id") || after;
  if (until !== undefined && until !== "rest") return operationError("invalid_input", "until must be rest.");
  if (seen !== undefined && seen !== "now" && !EVENT_ID.test(seen)) {
    return operationError("invalid_stream_position", `"${seen}" is no id of an event.`);
  }
  const position = live === undefined ? undefined : livePosition(live);
  if (live !== undefined && !position) {
    return operationError("invalid_stream_position", "live must be a step, an attempt and an offset, such as 0.1.12.");
  }
  const untilRest = until === "rest";
  return {
    input: {
      thread_id: context.req.param("thread_id") ?? "",
      until_rest: untilRest,
      ...(seen === undefined ? run !== undefined && { run } : { after: seen }),
      ...(position && { live: position }),
    },
    untilRest,
  };
}

export const EVENT_ID = /^\d{1,15}\.\d{1,9}$/;

async function* framesOf(
  events: AsyncIterable<Told>,
  { untilRest }: Wanted,
  requestId: string,
  leaving: AbortSignal,
): AsyncGenerator<Frame> {
  let isAll = untilRest;
  try {
    for await (const event of events) {
      isAll ||= event.type === "thread.terminated" || event.type === "thread.deleted";
      yield { ...(event.id !== undefined && { id: event.id }), data: JSON.stringify(event) };
    }
    if (isAll && !leaving.aborted) yield endFrame({ type: "stream.ended" });
  } catch (thrown) {
    const refusal = operationErrorOf(thrown, "internal_error");
    yield endFrame({ ...problemOf(refusal, requestId), type: "stream.failed" });
  }
}

/** The last one: who gets it need not come back. */
export function endFrame(data: object): Frame {
  return { event: "end", data: JSON.stringify(data) };
}

function livePosition(text: string): { step: number; attempt: number; offset: number } | undefined {
  if (!/^\d{1,15}\.\d{1,15}\.\d{1,15}$/.test(text)) return undefined;
  const [step = 0, attempt = 0, offset = 0] = text.split(".").map(Number);
  return { step, attempt, offset };
}
