// How every request is received and every answer sent: with an id, as one of our names, to pages that may ask, with no more
// than it may bring, with the headers that keep browsers careful, and with a line in the log.
import { randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, MiddlewareHandler } from "hono";
import { boundBody } from "./body.ts";
import { CarefulResponse, careful, REQUEST_ID } from "./careful-response.ts";
import type { ServerEnv } from "./door.ts";
import { createHostCheck, type HostOptions } from "./hosts.ts";
import { problem } from "./problem.ts";

export type ArrivalOptions = HostOptions & {
  readonly closing: AbortSignal;
  /** The most that a request to a path may bring. */
  readonly maxBytes: (path: string) => number;
  readonly isWebhook?: (path: string) => boolean;
  readonly log?: ((line: string) => void) | undefined;
};

const GIVEN_ID = /^[\w.:-]{1,64}$/;

export function createArrival({
  closing,
  maxBytes,
  isWebhook,
  log,
  ...hostOptions
}: ArrivalOptions): MiddlewareHandler<ServerEnv> {
  const hosts = createHostCheck(hostOptions);

  /** Answers here what is not to go further. */
  function turnedAway(context: Context<ServerEnv>, origin: string | undefined): Response | undefined {
    const { req } = context;
    const refusal = hosts.refusal(req.header("host"), origin);
    if (refusal) return problem(context, refusal);
    if (req.method === "GET") return undefined;
    if (isWebhook?.(req.path)) context.set("isWebhook", true);
    if (origin !== undefined && hosts.isForeign(origin) && isPreflight(context)) return preflight(context);
    const excess = boundBody(context, maxBytes(req.path));
    return excess && problem(context, excess);
  }

  return async (context, next) => {
    const began = performance.now();
    const { req } = context;
    const given = req.header("x-request-id");
    const requestId = given !== undefined && GIVEN_ID.test(given) ? given : randomUUID();
    context.set("requestId", requestId);
    const { outgoing } = (context.env ?? {}) as Partial<HttpBindings>;
    // A program may have made the connection's answers itself.
    const isCareful = outgoing instanceof CarefulResponse;
    if (isCareful) outgoing.requestId = requestId;
    if (outgoing) context.set("takesStreams", true);
    const origin = req.header("origin");
    const answer = turnedAway(context, origin);
    if (answer) context.res = answer;
    else await next();

    if (!isCareful) {
      context.res.headers.set(REQUEST_ID, requestId);
      for (const [name, value] of careful) setUnlessThere(context.res.headers, name, value);
    }
    if (origin !== undefined && hosts.isForeign(origin)) letRead(context.res.headers, origin);
    if (closing.aborted) context.res.headers.set("Connection", "close");
    if (log) log(logLine(context, performance.now() - began));
    const stream = context.get("stream");
    if (!stream || !outgoing) return;
    outgoing.writeHead(context.res.status, Object.fromEntries(context.res.headers));
    // On their own: written together with the first words, the headers would be kept in pieces for as long as the stream is open.
    outgoing.flushHeaders();
    stream(outgoing);
    // Without the first assignment the second would be an answer made of both.
    context.res = undefined;
    context.res = RESPONSE_ALREADY_SENT;
  };
}

function setUnlessThere(headers: Headers, name: string, value: string): void {
  if (!headers.has(name)) headers.set(name, value);
}

/** What a page of another origin may see of an answer. It never brings cookies: tokens are all that counts here. */
function letRead(headers: Headers, origin: string): void {
  headers.set("Access-Control-Allow-Origin", origin);
  headers.set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, Mcp-Session-Id, Link");
  headers.set("Cross-Origin-Resource-Policy", "cross-origin");
  headers.append("Vary", "Origin");
}

function isPreflight({ req }: Context<ServerEnv>): boolean {
  return req.method === "OPTIONS" && req.header("access-control-request-method") !== undefined;
}

function preflight(context: Context<ServerEnv>): Response {
  const asked = context.req.header("access-control-request-headers");
  return context.body(null, 204, {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    ...(asked !== undefined && { "Access-Control-Allow-Headers": asked }),
    "Access-Control-Max-Age": "600",
  });
}

/** Neither the query, which may hold a ticket, nor any header of the request. */
function logLine(context: Context<ServerEnv>, tookMs: number): string {
  const { status } = context.res;
  const refusal = context.get("refusal");
  return JSON.stringify({
    time: new Date().toISOString(),
    request_id: context.get("requestId"),
    method: context.req.method,
    path: context.req.path,
    status,
    ms: Math.round(tookMs * 10) / 10,
    token_id: context.get("principal")?.token_id ?? null,
    ...(refusal && { code: refusal.code }),
    ...(refusal && status >= 500 && { message: refusal.message }),
  });
}
