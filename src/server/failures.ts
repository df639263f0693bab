// How often an address may be refused for not proving who it is. Only those who fail are held up: others behind the same
// address may well be who they say.
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import { operationError } from "../contracts/operation-error.ts";
import type { ServerEnv } from "./door.ts";
import { problem } from "./problem.ts";
import { createRateLimit, type Rate, type RateLimit } from "./rate-limit.ts";
import type { ServerOptions } from "./server-options.ts";

const FAILURE_RATE: Rate = { perSecond: 1, burst: 20 };

/** Counts a failure; answers in the place of the refusal where it is one too many. */
export type HoldUp = (context: Context<ServerEnv>, message: string) => Response | undefined;

export function createFailures({ failureRate = FAILURE_RATE }: Pick<ServerOptions, "failureRate">): HoldUp {
  const failures: RateLimit | undefined = failureRate ? createRateLimit(failureRate) : undefined;
  return (context, message) => {
    const seconds = failures?.take(addressOf(context)) ?? 0;
    return seconds > 0 ? tooMany(context, seconds, message) : undefined;
  };
}

export function tooMany(context: Context<ServerEnv>, seconds: number, message: string): Response {
  return problem(context, operationError("too_many_requests", message), { "Retry-After": String(seconds) });
}

function addressOf(context: Context<ServerEnv>): string {
  return (context.env as Partial<HttpBindings> | undefined)?.incoming?.socket.remoteAddress ?? "";
}
