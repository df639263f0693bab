// Lets in whoever says who they are, as often as they may come and with as many streams as they may hold.
import type { HttpBindings } from "@hono/node-server";
import type { Context, MiddlewareHandler } from "hono";
import { operationError } from "../contracts/operation-error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { type Authenticate, isPrincipal, isStreamPath } from "./authenticate.ts";
import type { ServerEnv } from "./door.ts";
import { type HoldUp, tooMany } from "./failures.ts";
import { mcpPath } from "./mcp/mcp-path.ts";
import type { OpenStreams } from "./open-streams.ts";
import { problem } from "./problem.ts";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";
import type { ServerOptions } from "./server-options.ts";

const RATE = { perSecond: 100, burst: 200 };

export function createEntrance(
  authenticate: Authenticate,
  streams: OpenStreams,
  holdUp: HoldUp,
  { rate = RATE }: Pick<ServerOptions, "rate">,
): MiddlewareHandler<ServerEnv> {
  const visits: RateLimit | undefined = rate ? createRateLimit(rate) : undefined;

  return async (context, next) => {
    const found = await authenticate(context);
    if (!isPrincipal(found)) {
      const held = holdUp(context, "This address has failed to say who calls too often.");
      return held ?? problem(context, found, { "WWW-Authenticate": challenge(context) });
    }
    context.set("principal", found);
    const seconds = visits?.take(visitorOf(found)) ?? 0;
    if (seconds > 0) return tooMany(context, seconds, "This token has come too often.");
    let release: (() => void) | undefined;
    const hold = () => {
      release ??= streams.hold(found);
      if (release) return undefined;
      context.header("Retry-After", "5");
      return operationError("too_many_streams", "This token holds as many streams as it may.");
    };
    context.set("holdStream", hold);
    const asks = asksForStream(context);
    const refusal = asks && isHeldHere(context) ? hold() : undefined;
    if (refusal) return problem(context, refusal);
    try {
      await next();
      // Whoever answers with a stream was asked for one, has taken a place for it, or says so. Looked at last, because an
      // answer whose headers were read takes much longer to send.
      const mayStream = asks || release !== undefined || context.get("stream") !== undefined;
      const outgoing = (context.env as Partial<HttpBindings> | undefined)?.outgoing;
      if (mayStream && outgoing && isEventStream(context.res)) streams.add(found, outgoing);
    } finally {
      release?.();
    }
    return undefined;
  };
}

function challenge(context: Context<ServerEnv>): string {
  const isGiven = context.req.header("authorization") !== undefined || context.req.query("ticket") !== undefined;
  return `Bearer realm="holdfast"${isGiven ? ', error="invalid_token"' : ""}`;
}

function visitorOf({ token_id, acting_user_id, audience_id }: Principal): string {
  return token_id === null ? `${audience_id} ${acting_user_id}` : String(token_id);
}

function asksForStream({ req }: Context<ServerEnv>): boolean {
  return isStreamPath(req.path) || (req.header("accept")?.includes("text/event-stream") ?? false);
}

/** Other streams are held by the doors that answer with them, who refuse in the words of their protocol. */
function isHeldHere({ req }: Context<ServerEnv>): boolean {
  return req.method === "GET" && req.path !== mcpPath;
}

function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}
