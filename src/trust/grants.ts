// Grants: who was given an agent, in which role, and where. Whether somebody may use an agent is decided by them.
import type { GrantHolder, GrantStore, StoredGrant } from "../backend/grant-store.ts";
import { holdfastError } from "../contracts/error.ts";
import { type Json, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { isStorable } from "../contracts/storable-name.ts";
import type { AccessGrant, AgentRole } from "../contracts/trust/access-grant.ts";
import * as accessGrant from "../contracts/trust/access-grant.ts";
import {
  type AccessHost,
  type AccessLookup,
  canAccessAgent,
  hasGrant,
  principalsFor,
} from "../contracts/trust/agent-access.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import * as principals from "../contracts/trust/principal.ts";
import { readFields } from "../contracts/trust/record-fields.ts";
import {
  checkIndexable,
  checkStorable,
  invalidArgument,
  reading,
  readName,
  readNumber,
  readOptions,
  readText,
} from "./check-input.ts";

/** A grant to a user, or with an audience in his place to everybody in it. */
export type GrantOptions = {
  readonly agent: string;
  readonly user_id?: number;
  readonly audience_id?: string | null;
  /** `viewer` unless given. */
  readonly role?: AgentRole;
  /** Without one it counts for those who come without a workspace, and for nobody else. */
  readonly workspace_id?: string | null;
  readonly granted_by_user_id?: number | null;
  readonly metadata?: { readonly [key: string]: Json };
};

export interface Grants {
  /** Gives an agent to somebody, in place of what he was given there before. */
  grant(options: GrantOptions): Promise<AccessGrant>;
  /** False when there was nothing to take back. */
  revoke(agent: string, holder: GrantHolder, workspaceId?: string | null): Promise<boolean>;
  get(agent: string, holder: GrantHolder, workspaceId?: string | null): Promise<AccessGrant | null>;
  /** In the order they were first granted, in all workspaces. */
  list(of: { readonly agent: string } | GrantHolder): Promise<readonly AccessGrant[]>;
  /** True when the principal may use the agent in at least this role; `viewer` unless given. */
  canAccess(principal: Principal, agent: string, minimumRole?: string, context?: UnknownMap): Promise<boolean>;
  /** True when the principal, or an audience of his, was granted the agent in at least this role where he is. */
  hasGrant(principal: Principal, agent: string, role: AgentRole): Promise<boolean>;
  /** Every agent that the principal may use in at least this role: its own first, then those that were granted. */
  accessibleAgents(principal: Principal, minimumRole?: string, context?: UnknownMap): Promise<readonly string[]>;
}

export function createGrants({
  store,
  audiencesOf,
  decideAccess,
  isByGrant = async () => false,
}: Pick<AccessHost, "audiencesOf" | "decideAccess"> & {
  readonly store: GrantStore;
  /** True for a token that is good for its agent only while its user is granted that; none is unless given. */
  readonly isByGrant?: (tokenId: number) => Promise<boolean>;
}): Grants {
  async function find(agent: string, holder: GrantHolder, workspaceId: string | null = null) {
    const stored = await store.get(agent, holder, workspaceId);
    return stored ? grantOf(stored) : null;
  }

  const lookup: AccessLookup = {
    getAccess: (agent, user_id, workspaceId) => find(agent, { user_id }, workspaceId),
    async getAccessForPrincipal(agent, principal, workspaceId) {
      const grants = await Promise.all(holdersOf(principal).map((holder) => find(agent, holder, workspaceId)));
      return grants.reduce(greater, null);
    },
  };
  const host: AccessHost = {
    ...{ store: lookup, audiencesOf },
    async decideAccess(found, acting, agent, role, context) {
      const { token_id, effective_agent_id } = acting;
      // Its own agent is open to a token by the word of who made it; who had no more than a grant could not give more.
      const isOwn = found && token_id !== null && effective_agent_id === agent;
      const rests = isOwn && (await isByGrant(token_id));
      const allowed = rests ? await hasGrant(acting, agent, role, context, { store: lookup, audiencesOf }) : found;
      return decideAccess ? await decideAccess(allowed, acting, agent, role, context) : allowed;
    },
  };

  return {
    async grant(options) {
      const { grant_id, granted_at, metadata, ...grant } = reading(() => readGrant(options), invalid);
      return grantOf(await store.grant({ ...grant, metadata: JSON.stringify(metadata) }));
    },

    async revoke(agent, holder, workspaceId) {
      return await store.revoke(...readKey(agent, holder, workspaceId));
    },

    async get(agent, holder, workspaceId) {
      return await find(...readKey(agent, holder, workspaceId));
    },

    async list(of) {
      const { agent, ...holder } = readOptions(of, ["agent", "user_id", "audience_id"]);
      if (agent === undefined) return (await store.ofHolder(readHolder(holder))).map(grantOf);
      return (await store.ofAgent(readName("agent", agent))).map(grantOf);
    },

    canAccess: async (principal, agent, minimumRole, context) =>
      await canAccessAgent(principals.fromArray(principal), agent, minimumRole, readContext(context), host),
    hasGrant: async (principal, agent, role) => await hasGrant(principals.fromArray(principal), agent, role, {}, host),

    async accessibleAgents(given, minimumRole = "viewer", said) {
      const principal = principals.fromArray(given);
      const context = readContext(said);
      const candidates = await principalsFor(principal, context, audiencesOf);
      const granted = await Promise.all(candidates.flatMap(holdersOf).map((holder) => store.ofHolder(holder)));
      const here = granted.flat().filter(({ workspace_id }) => workspace_id === principal.workspace_id);
      const agents = [...new Set([principal.effective_agent_id, ...here.map(({ agent_id }) => agent_id)])];
      const may = await Promise.all(
        agents.map((agent) => canAccessAgent(principal, agent, minimumRole, context, host)),
      );
      return agents.filter((_, index) => may[index]);
    },
  };
}

const OPTIONS = [
  ...["agent", "user_id", "audience_id", "role", "workspace_id"],
  ...["granted_by_user_id", "metadata"],
] as const satisfies readonly (keyof GrantOptions)[];

/** Throws `invalid_wp_agent_access_grant`. */
function readGrant(options: unknown): AccessGrant {
  const { agent, ...rest } = readOptions(options, OPTIONS, invalid);
  const grant = accessGrant.fromArray({ ...rest, agent_id: agent });
  const { agent_id, audience_id, workspace_id } = grant;
  checkStorable(grant, invalid);
  // Written as JSON, as it is in the key of a grant, a text may be longer than it is.
  checkIndexable("agent, audience and workspace", [JSON.stringify([agent_id, audience_id, workspace_id])], invalid);
  return grant;
}

/** What a grant is found by. Whether there can be such a grant is another question. */
function readKey(agent: unknown, holder: unknown, workspaceId: unknown): [string, GrantHolder, string | null] {
  const workspace = workspaceId == null ? null : readText("workspaceId", workspaceId);
  return [readText("agent", agent), readHolder(holder), workspace];
}

function readHolder(value: unknown): GrantHolder {
  const { user_id, audience_id } = readOptions(value, ["user_id", "audience_id"]);
  if (user_id !== undefined) return { user_id: readNumber("user_id", user_id, 1) };
  return { audience_id: readName("audience_id", audience_id) };
}

function readContext(context: unknown = {}): UnknownMap {
  return readFields(context, (_, cause) => invalidArgument("context must be a map that can be read", cause));
}

function invalid(detail: string, cause?: unknown) {
  return holdfastError("invalid_wp_agent_access_grant", detail, cause);
}

function greater(one: AccessGrant | null, other: AccessGrant | null): AccessGrant | null {
  return one !== null && (other === null || accessGrant.roleMeets(one.role, other.role)) ? one : other;
}

function holdersOf({ acting_user_id, audience_id }: Principal): readonly GrantHolder[] {
  return [
    ...(acting_user_id > 0 ? [{ user_id: acting_user_id }] : []),
    // Nothing can be granted to an audience whose name no database holds.
    ...(audience_id === null || !isStorable(audience_id) ? [] : [{ audience_id }]),
  ];
}

function grantOf({ granted_at, metadata, ...grant }: StoredGrant): AccessGrant {
  return accessGrant.fromArray({
    ...grant,
    granted_at: new Date(granted_at / 1_000).toISOString(),
    metadata: snapshotMap(JSON.parse(metadata)),
  });
}
