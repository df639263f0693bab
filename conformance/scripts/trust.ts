// What the vectors about principals, tokens and access ask for in several questions at once, with the stores that they
// describe: tokens and grants as they are listed in the case.
import { canAccess, listAgents } from "../../src/abilities/access.ts";
import type { UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";
import * as accessGrant from "../../src/contracts/trust/access-grant.ts";
import * as agentAccess from "../../src/contracts/trust/agent-access.ts";
import * as autonomousPolicy from "../../src/contracts/trust/autonomous-policy.ts";
import * as callerContext from "../../src/contracts/trust/caller-context.ts";
import * as conversationOwner from "../../src/contracts/trust/conversation-owner.ts";
import { currentPrincipal } from "../../src/contracts/trust/current-principal.ts";
import * as principal from "../../src/contracts/trust/principal.ts";
import * as token from "../../src/contracts/trust/token.ts";
import { authenticate } from "../../src/contracts/trust/token-authenticator.ts";

/** The clock of the vectors: 2026-01-01, in Unix seconds. */
const NOW = Date.UTC(2026, 0, 1) / 1000;

type Arguments = {
  readonly acting_user_id: number;
  readonly effective_agent_id: string;
  readonly token_id: number;
  readonly audience_id: string;
  readonly runtime_id: string;
  readonly workspace_id?: string;
};

const factories = {
  user_session: (given: Arguments) => principal.userSession(given.acting_user_id, given.effective_agent_id, given),
  agent_token: (given: Arguments) =>
    principal.agentToken(given.acting_user_id, given.effective_agent_id, given.token_id, given),
  audience: (given: Arguments) => principal.audience(given.audience_id, given.effective_agent_id, given),
  runtime: (given: Arguments) => principal.runtime(given.runtime_id, given.effective_agent_id, given),
};

export function makePrincipal({ kind, args }: { kind: keyof typeof factories; args: Arguments }) {
  const made = factories[kind](args);
  return {
    principal: made,
    owner: conversationOwner.conversationOwner(made),
    has_audience: made.audience_id !== null,
    autonomous: autonomousPolicy.isAutonomous(made),
  };
}

export function readHeaders({ headers, max_chain_depth }: { headers: unknown; max_chain_depth?: number }) {
  const context = callerContext.fromHeaders(headers, max_chain_depth);
  return { ...context, is_cross_site: callerContext.isCrossSite(context) };
}

export function readOwner(given: { input: UnknownMap; principal: unknown }) {
  const owner = conversationOwner.fromInput(given.input, principal.fromArray(given.principal));
  return isOperationError(owner) ? { error: { code: owner.code } } : owner;
}

export function askAutonomy(given: { principal: unknown }) {
  const acting = principal.fromArray(given.principal);
  return { autonomous: autonomousPolicy.isAutonomous(acting), ceiling: autonomousPolicy.resolveCeiling(acting) };
}

type AuthenticatorCall =
  | {
      readonly do: "authenticate";
      readonly with: {
        readonly raw_token: string;
        readonly request_context?: string;
        readonly metadata?: UnknownMap;
        readonly headers?: unknown;
        readonly max_chain_depth?: number;
      };
    }
  | { readonly do: "revoke"; readonly with: { readonly token_id: number; readonly agent_id: string } };

export async function runAuthenticator(given: {
  tokens: readonly (UnknownMap & { readonly raw: string })[];
  token_prefix?: string | null;
  calls: readonly AuthenticatorCall[];
}) {
  let tokens = given.tokens.map(({ raw, ...fields }) => token.fromArray({ ...fields, token_hash: token.hash(raw) }));
  const touched: number[] = [];
  const options = {
    tokens: {
      resolveTokenHash: (hash: string) => tokens.find(({ token_hash }) => token_hash === hash) ?? null,
      touchToken: (id: number) => touched.push(id),
    },
    now: () => NOW,
    tokenPrefix: given.token_prefix,
  };

  async function take(call: AuthenticatorCall): Promise<unknown> {
    if (call.do === "revoke") {
      const { token_id, agent_id } = call.with;
      const left = tokens.filter((known) => known.token_id !== token_id || known.agent_id !== agent_id);
      const revoked = left.length < tokens.length;
      tokens = left;
      return { revoked };
    }
    const { raw_token, request_context, metadata, headers, max_chain_depth } = call.with;
    const request = { requestContext: request_context, metadata, headers, maxChainDepth: max_chain_depth };
    return { principal: await authenticate(raw_token, request, options), touched: [...touched] };
  }

  const taken: unknown[] = [];
  for (const call of given.calls) taken.push(await take(call));
  return taken;
}

type AccessCase = {
  readonly principal: unknown;
  readonly agent_id: string;
  readonly minimum_role?: string;
  readonly grants?: readonly unknown[];
  readonly store: "none" | "user" | "principal";
  readonly context?: UnknownMap;
};

export function askAccess({ agent_id, minimum_role, grants, store, context, ...given }: AccessCase) {
  const { getAccess, getAccessForPrincipal } = grantStore(grants);
  const stores = { none: null, user: { getAccess }, principal: { getAccess, getAccessForPrincipal } };
  const host = { store: stores[store] };
  return agentAccess.canAccessAgent(principal.fromArray(given.principal), agent_id, minimum_role, context, host);
}

export function askCurrentPrincipal(given: { context: UnknownMap; current_user_id: number }) {
  return currentPrincipal(given.context, { currentUserId: given.current_user_id });
}

export async function listPrincipals(given: {
  principal: unknown;
  context?: UnknownMap;
  extra_audiences?: readonly unknown[];
}) {
  const { extra_audiences = [] } = given;
  const acting = principal.fromArray(given.principal);
  const found = await agentAccess.principalsFor(acting, given.context, (own) => [...own, ...extra_audiences]);
  return found.map(({ audience_id }) => audience_id);
}

type AbilityCase = { readonly input: unknown; readonly current_user_id: number; readonly grants?: readonly unknown[] };

export function askAccessAbility({ input, ...given }: AbilityCase) {
  return canAccess(input, accessHost(given));
}

export async function listAccessible({ input, ...given }: AbilityCase) {
  const { agents } = await listAgents(input, accessHost(given));
  return agents.map(({ slug }) => slug);
}

function accessHost({ current_user_id, grants }: Omit<AbilityCase, "input">) {
  const agents = () => ["bare", "with-provider", "ready"].map((slug) => ({ slug }));
  return { agents, currentUserId: current_user_id, store: grantStore(grants) };
}

/** Matches a grant on its agent, its user or audience, and its workspace, each exactly. */
export function grantStore(given: readonly unknown[] = []) {
  const grants = given.map(accessGrant.fromArray);
  const find = (agentId: string, workspaceId: string | null | undefined, holder: Partial<accessGrant.AccessGrant>) =>
    grants.find(
      (grant) =>
        grant.agent_id === agentId &&
        grant.workspace_id === (workspaceId ?? null) &&
        grant.user_id === (holder.user_id ?? 0) &&
        grant.audience_id === (holder.audience_id ?? null),
    ) ?? null;
  return {
    getAccess: (agentId: string, user_id: number, workspaceId?: string | null) =>
      find(agentId, workspaceId, { user_id }),
    getAccessForPrincipal: (agentId: string, acting: principal.Principal, workspaceId?: string | null) =>
      acting.audience_id === null
        ? find(agentId, workspaceId, { user_id: acting.acting_user_id })
        : find(agentId, workspaceId, { audience_id: acting.audience_id }),
  };
}

export function askExpiry({ expires_at, now }: { expires_at: string | null; now: number }) {
  return token.isExpired({ expires_at }, now);
}

export function knowsAuthSource({ auth_source, extra }: { auth_source: unknown; extra?: unknown }) {
  // A host that adds something else than a list has answered with that instead of one.
  const added = extra ?? [];
  const known = Array.isArray(added) ? [...principal.knownAuthSources, ...added] : added;
  return principal.isKnownAuthSource(auth_source, known);
}
