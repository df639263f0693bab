// From a bearer token to who acts. Whatever is wrong with a request, the answer is the same null, and nothing is written:
// whoever guesses learns nothing, and a token that was not accepted does not look used.
import { timingSafeEqual } from "node:crypto";
import { trim } from "../coerce.ts";
import { type JsonMap, snapshotMap } from "../json.ts";
import { isThenable } from "../when-ready.ts";
import * as callerContext from "./caller-context.ts";
import * as principal from "./principal.ts";
import * as token from "./token.ts";

/** What authenticating asks of the store of tokens. */
export interface TokenLookup {
  /** The token with this hash, unless it was revoked. */
  resolveTokenHash(tokenHash: string): token.Token | null | Promise<token.Token | null>;
  /** Notes that a token was used, at a time in unix seconds. */
  touchToken(tokenId: number, usedAt: number): unknown;
}

export type AuthenticatorOptions = {
  readonly tokens: TokenLookup;
  /** Unix seconds. */
  readonly now: () => number;
  /** Tokens that begin otherwise are not even looked up. */
  readonly tokenPrefix?: string | null | undefined;
};

export type BearerRequest = {
  readonly requestContext?: string | undefined;
  /** The caller's own; what is known about the token stands over it. */
  readonly metadata?: unknown;
  /** The request's headers, for the chain of agents behind it. */
  readonly headers?: unknown;
  readonly maxChainDepth?: number | undefined;
  /** Told why a request is refused whose token is good. Whoever only guesses tokens never comes so far. */
  readonly onUnreadable?: ((thrown: unknown) => void) | undefined;
};

/** The principal of whoever holds the token, or null. Throws only when the store does. */
export async function authenticate(
  rawToken: unknown,
  request: BearerRequest,
  { tokens, now, tokenPrefix }: AuthenticatorOptions,
): Promise<principal.Principal | null> {
  const raw = typeof rawToken === "string" ? trim(rawToken) : "";
  if (raw === "" || !raw.startsWith(tokenPrefix ?? "")) return null;
  const hash = token.hash(raw);
  const found = await tokens.resolveTokenHash(hash);
  if (!found || !isSame(found.token_hash, hash)) return null;
  const at = now();
  if (token.isExpired(found, at)) return null;
  const acting = principalOf(found, request);
  if (acting === null) return null;
  const noted = tokens.touchToken(found.token_id, at);
  if (isThenable(noted)) await noted;
  return acting;
}

/** Null when the chain of callers, or anything else about the request, cannot be read. */
function principalOf(found: token.Token, request: BearerRequest): principal.Principal | null {
  const { requestContext = USUAL, metadata, headers, maxChainDepth } = request;
  try {
    const isUsual = requestContext === USUAL && metadata === undefined && Object.isFrozen(found);
    const acting = isUsual ? usualHolder(found) : holderOf(found, requestContext, metadata);
    return principal.calledBy(acting, callerContext.fromHeaders(headers, maxChainDepth));
  } catch (thrown) {
    request.onUnreadable?.(thrown);
    return null;
  }
}

const USUAL = "rest";

/** Whoever holds the token, whatever chain of callers is behind the request. */
function holderOf(found: token.Token, request_context: string, metadata: unknown): principal.Principal {
  const { token_id, agent_id, owner_user_id, workspace_id, client_id } = found;
  return principal.agentToken(owner_user_id, agent_id, token_id, {
    request_context,
    request_metadata: { ...snapshotMap(metadata), ...factsOf(found) },
    workspace_id,
    client_id,
    capability_ceiling: token.capabilityCeilingOf(found),
  });
}

const usualHolders = new WeakMap<token.Token, principal.Principal>();

/** Worked out once for a record that cannot change: a token comes again and again, and mostly so. */
function usualHolder(found: token.Token): principal.Principal {
  const known = usualHolders.get(found);
  if (known) return known;
  const holder = holderOf(found, USUAL, undefined);
  usualHolders.set(found, holder);
  return holder;
}

function factsOf({ token_prefix, label, client_id, workspace_id, allowed_capabilities }: token.Token): JsonMap {
  const has_capability_restrictions = allowed_capabilities !== null;
  return { token_prefix, token_label: label, client_id, workspace_id, has_capability_restrictions };
}

// A store that compares loosely, or not in constant time, must not be able to let another token in.
function isSame(stored: string, hash: string): boolean {
  return stored.length === hash.length && timingSafeEqual(Buffer.from(stored.toLowerCase()), Buffer.from(hash));
}
