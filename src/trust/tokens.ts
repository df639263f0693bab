// Bearer tokens of agents: made here, shown once, and known from then on by their hash alone.
import { randomBytes } from "node:crypto";
import type { StoredToken, TokenStore } from "../backend/token-store.ts";
import { agentSlug } from "../contracts/agents/agent-slug.ts";
import { holdfastError } from "../contracts/error.ts";
import { type Json, sealParsed, snapshotMap } from "../contracts/json.ts";
import { isName } from "../contracts/storable-name.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Token, TokenMetadata } from "../contracts/trust/token.ts";
import * as token from "../contracts/trust/token.ts";
import { authenticate, type BearerRequest } from "../contracts/trust/token-authenticator.ts";
import { quietly } from "../contracts/when-ready.ts";
import { checkIndexable, checkStorable, reading, readNumber, readOptions, readText } from "./check-input.ts";
import { whileUnchanged } from "./while-unchanged.ts";

export type TokenOptions = {
  /** The agent that whoever holds the token acts as. */
  readonly agent: string;
  /** The user for whom it acts, and whose rights are the most it can have. */
  readonly owner_user_id: number;
  readonly label?: string;
  /** All that it may do; without a list, whatever its owner may. */
  readonly allowed_capabilities?: readonly string[] | null;
  /** Never, unless given. */
  readonly expires_at?: string | Date | null;
  readonly client_id?: string | null;
  readonly workspace_id?: string | null;
  readonly metadata?: { readonly [key: string]: Json };
  /** Good for its agent only while its user is granted that, at every use; off unless given. */
  readonly by_grant?: boolean;
};

/** What may be shown of a token that was made here. */
export type IssuedToken = TokenMetadata & { readonly revoked_at: string | null; readonly by_grant: boolean };

type TokensPage = {
  readonly agent?: string;
  readonly owner_user_id?: number;
  readonly workspace_id?: string;
  /** Revoked ones too. */
  readonly revoked?: boolean;
  /** The number of the last one that was seen. */
  readonly after?: number;
  readonly limit?: number;
};

export interface Tokens {
  /** Makes a token. Its text is in the answer and nowhere else: nobody can be shown it a second time. */
  create(options: TokenOptions): Promise<{ readonly token: string; readonly metadata: IssuedToken }>;
  /** Also a revoked one. */
  get(tokenId: number): Promise<IssuedToken | undefined>;
  /** An agent's tokens in the order of their creation; revoked ones too when that is asked for. */
  list(agent: string, options?: { readonly revoked?: boolean }): Promise<readonly IssuedToken[]>;
  /** A page of the tokens of all agents, in the order of their creation; those of a user, or of a workspace, when named. */
  page(query?: TokensPage): Promise<readonly IssuedToken[]>;
  /** Whether anybody holds a token, of whichever agent; with `revoked`, whether anybody ever has. */
  exist(options?: { readonly revoked?: boolean }): Promise<boolean>;
  /** From now on it lets nobody in, in no process. False when the agent has no such token, or none any more. */
  revoke(tokenId: number, agent: string): Promise<boolean>;
  /** How many there were to revoke. */
  revokeAll(agent: string): Promise<number>;
  /** Who holds a token, or null for whatever reason. Throws only when the database cannot be read. */
  authenticate(rawToken: unknown, request?: BearerRequest): Promise<Principal | null>;
  /**
   * True for whoever came with a token that was revoked since. Who was let in within the last second is not looked up again
   * for that, unless a token was revoked here meanwhile: a request asks for several capabilities.
   */
  isRevoked(principal: Principal): Promise<boolean>;
}

/** Nobody guesses one of so many. */
const SECRET_BYTES = 32;
/** What is shown of a token's secret, so that people can tell their tokens apart. */
const SHOWN_CHARACTERS = 6;
/** A use is noted once a minute at most: more would be a write for every request, to learn nothing more. */
const TOUCH_MICROSECONDS = 60_000_000;

const JUST_NOW_MILLISECONDS = 1_000;

export function createTokens({
  store,
  now = Date.now,
  prefix = "hf_",
}: {
  readonly store: TokenStore;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** What every token begins with; what begins otherwise is not even looked up. */
  readonly prefix?: string;
}): Tokens {
  const recordOf = whileUnchanged(tokenOf);
  /** When somebody was let in, by the very object that says who; each request has one of its own. */
  let letIn = new WeakMap<Principal, number>();

  /** Notes the use, unless one was noted just now. That it cannot be noted is no reason to turn anybody away. */
  function touch({ token_id, last_used_at }: StoredToken, used: number): unknown {
    if (last_used_at !== null && last_used_at >= used - TOUCH_MICROSECONDS) return undefined;
    return quietly(() => store.touch(token_id, used, TOUCH_MICROSECONDS));
  }

  return {
    async create(options) {
      const raw = prefix + randomBytes(SECRET_BYTES).toString("base64url");
      const shown = raw.slice(0, prefix.length + SHOWN_CHARACTERS);
      const read = reading(() => readToken(options, { token_hash: token.hash(raw), token_prefix: shown }), invalid);
      const { allowed_capabilities, metadata } = read;
      const stored = await store.create({
        ...read,
        allowed_capabilities: allowed_capabilities && JSON.stringify(allowed_capabilities),
        metadata: JSON.stringify(metadata),
      });
      return { token: raw, metadata: issuedOf(stored) };
    },

    async get(tokenId) {
      const stored = await store.get(readNumber("tokenId", tokenId, 1));
      return stored && issuedOf(stored);
    },

    async list(agent, options = {}) {
      const { revoked = false } = readOptions(options, ["revoked"]);
      const stored = isName(readText("agent", agent)) ? await store.list(agent) : [];
      return stored.filter(({ revoked_at }) => revoked || revoked_at === null).map(issuedOf);
    },

    async page(query = {}) {
      const given = readOptions(query, PAGE_OPTIONS);
      const { agent, owner_user_id, workspace_id, revoked, after = 0, limit = USUAL_PAGE } = given;
      const named = {
        ...(agent !== undefined && { agent_id: readText("agent", agent) }),
        ...(workspace_id !== undefined && { workspace_id: readText("workspace_id", workspace_id) }),
      };
      if (!Object.values(named).every(isName)) return [];
      const stored = await store.page({
        ...named,
        ...(owner_user_id !== undefined && { owner_user_id: readNumber("owner_user_id", owner_user_id, 0) }),
        ...{ revoked: revoked === true, after: readNumber("after", after, 0), limit: readNumber("limit", limit, 1) },
      });
      return stored.map(issuedOf);
    },

    async exist(options = {}) {
      const { revoked = false } = readOptions(options, ["revoked"]);
      return await store.exist({ revoked: revoked === true });
    },

    async revoke(tokenId, agent) {
      readNumber("tokenId", tokenId, 1);
      letIn = new WeakMap();
      return isName(readText("agent", agent)) && (await store.revoke(tokenId, agent));
    },

    async revokeAll(agent) {
      letIn = new WeakMap();
      return isName(readText("agent", agent)) ? await store.revokeAll(agent) : 0;
    },

    async authenticate(rawToken, request = {}) {
      let found: StoredToken | undefined;
      let at = 0;
      const tokens = {
        async resolveTokenHash(hash: string): Promise<Token | null> {
          found = await store.find(hash);
          return found ? recordOf(hash, found) : null;
        },
        touchToken: () => found && touch(found, at * 1_000),
      };
      const seconds = () => {
        at = now();
        return at / 1_000;
      };
      const principal = await authenticate(rawToken, request, { tokens, now: seconds, tokenPrefix: prefix });
      if (principal) letIn.set(principal, at);
      return principal;
    },

    async isRevoked(principal) {
      const { token_id } = principal;
      if (token_id === null || now() - (letIn.get(principal) ?? 0) < JUST_NOW_MILLISECONDS) return false;
      return ((await store.get(token_id))?.revoked_at ?? null) !== null;
    },
  };
}

const USUAL_PAGE = 100;

const PAGE_OPTIONS = [
  ...["agent", "owner_user_id", "workspace_id", "revoked", "after", "limit"],
] as const satisfies readonly (keyof TokensPage)[];

const OPTIONS = [
  ...["agent", "owner_user_id", "label", "allowed_capabilities"],
  ...["expires_at", "client_id", "workspace_id", "metadata", "by_grant"],
] as const satisfies readonly (keyof TokenOptions)[];

/** The record of a token that is to be made. Throws `invalid_wp_agent_token`. */
function readToken(
  options: unknown,
  made: Pick<Token, "token_hash" | "token_prefix">,
): Token & { readonly by_grant: boolean } {
  const { agent, expires_at, by_grant = false, ...rest } = readOptions(options, OPTIONS, invalid);
  // It stands for the agent that is found by this name, and a second spelling of it would be taken for another agent.
  if (agentSlug(agent) === "" || agentSlug(agent) !== agent) {
    throw invalid("agent_id must be the slug of an agent, such as my-agent");
  }
  const expires =
    expires_at instanceof Date && !Number.isNaN(expires_at.getTime()) ? expires_at.toISOString() : expires_at;
  const read = token.fromArray({ ...rest, ...made, agent_id: agent, expires_at: expires, token_id: UNNUMBERED });
  // A time before all others tells one that cannot be read, and would let nobody in from the start; a blank one would let
  // everybody in for ever.
  if (token.isExpired(read, Number.NEGATIVE_INFINITY) || read.expires_at === "") {
    throw invalid("expires_at must be a time such as 2027-01-31T12:00:00Z");
  }
  if (typeof by_grant !== "boolean") throw invalid("by_grant must be true or false");
  checkStorable(read, invalid);
  checkIndexable("agent_id", [read.agent_id], invalid);
  return { ...read, by_grant };
}

/** Numbered by the store; only the other fields are looked at. */
const UNNUMBERED = 1;

function invalid(detail: string, cause?: unknown) {
  return holdfastError("invalid_wp_agent_token", detail, cause);
}

function tokenOf(stored: StoredToken): Token {
  return sealParsed({ ...shownOf(stored), token_hash: stored.token_hash ?? "" });
}

function issuedOf(stored: StoredToken): IssuedToken {
  return { ...shownOf(stored), revoked_at: timeOf(stored.revoked_at), by_grant: stored.by_grant };
}

function shownOf(stored: StoredToken): TokenMetadata {
  const { token_hash, revoked_at, by_grant, allowed_capabilities, created_at, last_used_at, metadata, ...rest } =
    stored;
  return {
    ...rest,
    allowed_capabilities: allowed_capabilities === null ? null : (JSON.parse(allowed_capabilities) as string[]),
    created_at: timeOf(created_at),
    last_used_at: timeOf(last_used_at),
    metadata: snapshotMap(JSON.parse(metadata)),
  };
}

function timeOf(microseconds: number | null): string | null {
  return microseconds === null ? null : new Date(microseconds / 1_000).toISOString();
}
