// Who calls: whoever holds a token, or a ticket for a stream that a token was exchanged for. Nobody else, unless the server
// was told to let strangers in.
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import { HoldfastError } from "../contracts/error.ts";
import { isOperationError, type OperationError, operationError } from "../contracts/operation-error.ts";
import * as callerContext from "../contracts/trust/caller-context.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import * as principals from "../contracts/trust/principal.ts";
import * as token from "../contracts/trust/token.ts";
import type { Holdfast } from "../holdfast.ts";
import { judgeCaller, SIGNATURE_HEADER } from "./caller-trust.ts";
import type { ServerEnv } from "./door.ts";
import type { ServerOptions } from "./server-options.ts";
import type { Tickets } from "./tickets.ts";

export type Authenticate = (context: Context<ServerEnv>) => Promise<Principal | OperationError>;

/** Deeper chains are never accepted. */
const DEEPEST_CHAIN = 16;
const NO_GOOD_TOKEN = "The token is not, or no longer, a good one.";
const BEARER = /^Bearer +([\w.~+/-]+=*)$/i;

export function createAuthenticate(
  holdfast: Pick<Holdfast, "tokens">,
  options: Pick<ServerOptions, "callers" | "maxChainDepth" | "anonymousAgent">,
  tickets: Tickets,
): Authenticate {
  const { callers = {}, anonymousAgent } = options;
  const maxChainDepth = Math.min(DEEPEST_CHAIN, options.maxChainDepth ?? DEEPEST_CHAIN);

  /** The claims about the chain behind the request are believed, passed over, or reason enough to refuse it. */
  function withTrustedChain(context: Context<ServerEnv>, principal: Principal): Principal | OperationError {
    const chain = principal.caller_context;
    if (!chain || !callerContext.isCrossSite(chain)) return principal;
    const { pathname, search } = new URL(context.req.url);
    const request = { method: context.req.method, path: pathname + search, time: Math.floor(Date.now() / 1_000) };
    const verdict = judgeCaller(chain, context.req.header(SIGNATURE_HEADER), request, callers);
    if (verdict === "trusted") return principal;
    if (verdict === "forged") return unauthenticated("The host that is said to call has not signed this request.");
    return principals.calledBy(principal, callerContext.fromHeaders(undefined));
  }

  /** Who holds the token, if what is claimed about the chain behind the request can be read. */
  async function holderOf(context: Context<ServerEnv>, authorization: string): Promise<Principal | OperationError> {
    const [, raw] = BEARER.exec(authorization) ?? [];
    if (raw === undefined) return unauthenticated(NO_GOOD_TOKEN);
    const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
    // Asking for each header in turn takes longer than to see that there is none of them, as is usual.
    const headers = !incoming || namesChain(incoming.rawHeaders) ? context.req.raw.headers : undefined;
    let why = NO_GOOD_TOKEN;
    const onUnreadable = (thrown: unknown) => {
      const isChain = thrown instanceof HoldfastError && thrown.code === "invalid_agent_caller_context";
      if (isChain) why = `The claims about the agents behind the request are refused: ${thrown.detail}.`;
    };
    const request = { headers, requestContext: "rest", maxChainDepth, onUnreadable };
    return (await holdfast.tokens.authenticate(raw, request)) ?? unauthenticated(why);
  }

  async function byTicket(ticket: string, pathname: string): Promise<Principal | undefined> {
    const found = tickets.redeem(ticket, pathname);
    if (!found || found.token_id === null) return found;
    return (await isLive(holdfast, found.token_id)) ? found : undefined;
  }

  return async (context) => {
    const authorization = context.req.header("authorization");
    if (authorization !== undefined) {
      const holder = await holderOf(context, authorization);
      return isPrincipal(holder) ? withTrustedChain(context, holder) : holder;
    }
    const ticket = context.req.query("ticket");
    if (ticket !== undefined) {
      const isStream = context.req.method === "GET" && isStreamPath(context.req.path);
      const found = isStream ? await byTicket(ticket, context.req.path) : undefined;
      return found ?? unauthenticated("The ticket is not good here, or was used, or is older than half a minute.");
    }
    if (anonymousAgent !== undefined) {
      return principals.audience("public", anonymousAgent, { request_context: "rest" });
    }
    return unauthenticated("The request does not say who calls.");
  };
}

/** True when a request says anything about the chain of agents behind it. */
function namesChain(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.slice(0, callerContext.HEADER_PREFIX.length).toLowerCase() === callerContext.HEADER_PREFIX) {
      return true;
    }
  }
  return false;
}

/** Where tickets are taken. */
export function isStreamPath(pathname: string): boolean {
  return pathname.endsWith("/stream") || pathname === "/events";
}

/** False once a token was revoked or has expired. */
export async function isLive(holdfast: Pick<Holdfast, "tokens">, tokenId: number): Promise<boolean> {
  const found = await holdfast.tokens.get(tokenId);
  return found !== undefined && found.revoked_at === null && !token.isExpired(found, Date.now() / 1_000);
}

export function isPrincipal(found: Principal | OperationError): found is Principal {
  return !isOperationError(found);
}

function unauthenticated(message: string): OperationError {
  return operationError("unauthenticated", message);
}
