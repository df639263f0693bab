// The gateway over HTTP beyond its operations: the event stream, webhooks, and a health check for monitors.

import { isOperationError, operationError, operationErrorOf } from "../contracts/operation-error.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { FOLLOW_GATEWAY_EVENTS, type GatewayStreamEvent } from "../gateway/operations/events.ts";
import { bytesOf } from "./body.ts";
import type { Mount } from "./door.ts";
import { eventStream, type Frame } from "./event-stream.ts";
import type { HoldUp } from "./failures.ts";
import { problem, problemOf } from "./problem.ts";
import type { ServerOptions } from "./server-options.ts";
import { version } from "./version.ts";

const EVENTS_PATH = "/events";
const HEALTH_TTL_MS = 1_000;
const TOO_MANY_REFUSED = "This address has sent too many messages that were refused.";
const EVENT_ID = /^\d{1,15}$/;

/** Webhooks prove by a signature who sent them; the health check tells numbers only. */
export function openGatewayRoutes(holdUp: HoldUp): Mount {
  return (app, { holdfast: { gateway } }) => {
    if (!gateway) return;
    const started = performance.now();
    let known: { readonly at: number; readonly answer: Promise<object> } | undefined;

    // Not a route: it would make POST a method of every path. Which paths are endpoints changes with the configuration.
    app.use(async (context, next) => {
      const { path, method } = context.req;
      if (method !== "POST" || gateway.webhookBodyLimit(path) === undefined) return await next();
      const bytes = await bytesOf(context);
      if (isOperationError(bytes)) return holdUp(context, TOO_MANY_REFUSED) ?? problem(context, bytes);
      let held: Response | undefined;
      const logsRefusal = () => {
        held = holdUp(context, TOO_MANY_REFUSED);
        return held === undefined;
      };
      const { headers } = context.req.raw;
      const answer = await gateway.receiveWebhook(path, { headers, body: new Uint8Array(bytes), logsRefusal });
      if (held) return held;
      if (!answer) return await next();
      const { code, error } = answer.body;
      if (typeof code === "string") return problem(context, operationError(code, String(error)));
      return context.json(answer.body, answer.status);
    });

    app.get("/healthz", async (context) => {
      const now = performance.now();
      // Public and polled by monitors: the database is queried at most once a second.
      if (!known || now - known.at >= HEALTH_TTL_MS) known = { at: now, answer: readHealth(gateway) };
      try {
        return context.json({ ...(await known.answer), uptime_seconds: Math.floor((now - started) / 1_000) });
      } catch {
        return problem(context, operationError("database_unavailable", "The database does not answer."));
      }
    });
  };
}

async function readHealth(gateway: Gateway): Promise<object> {
  const { queue_depth, plugins_loaded, plugins_circuit_open, is_paused } = await gateway.status();
  return { status: "ok", version, queue_depth, plugins_loaded, plugins_circuit_open, is_paused };
}

/** `GET /events`: the gateway's event stream, resumable with `Last-Event-ID`. */
export function gatewayStreamRoutes({ heartbeatMs, retryMs }: Pick<ServerOptions, "heartbeatMs" | "retryMs">): Mount {
  const pace = { ...(heartbeatMs !== undefined && { heartbeatMs }), ...(retryMs !== undefined && { retryMs }) };
  return (app, { holdfast, closing }) => {
    if (!holdfast.gateway) return;
    app.get(EVENTS_PATH, async (context) => {
      const after = context.req.header("last-event-id") || context.req.query("after");
      if (after !== undefined && after !== "now" && !EVENT_ID.test(after)) {
        return problem(context, operationError("invalid_stream_position", `"${after}" is no id of an event.`));
      }
      const leaving = new AbortController();
      const events = (await holdfast.abilities.call(FOLLOW_GATEWAY_EVENTS, after === undefined ? {} : { after }, {
        principal: context.get("principal"),
        door: "http",
        signal: leaving.signal,
      })) as AsyncIterable<GatewayStreamEvent> | object;
      if (isOperationError(events)) return problem(context, events);
      const frames = framesOf(events as AsyncIterable<GatewayStreamEvent>, context.get("requestId"));
      return eventStream(context, frames, { closing, leaving, ...pace });
    });
  };
}

async function* framesOf(events: AsyncIterable<GatewayStreamEvent>, requestId: string): AsyncGenerator<Frame> {
  try {
    for await (const { id, type, ...event } of events) {
      yield { id, event: type, data: JSON.stringify({ id, type, ...event }) };
    }
  } catch (thrown) {
    const refusal = operationErrorOf(thrown, "internal_error");
    yield { event: "end", data: JSON.stringify({ ...problemOf(refusal, requestId), type: "stream.failed" }) };
  }
}
