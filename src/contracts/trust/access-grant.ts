// Who was given an agent, and in which role: a user, or everybody in an audience, everywhere or in one workspace.
import { trim } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { isContainer, type JsonMap, seal } from "../json.ts";
import type { Principal } from "./principal.ts";
import { mapField, optionalText, readFields, textField } from "./record-fields.ts";
import { userId } from "./user-id.ts";

/** From the least to the most; each may do what those before it may. */
export const roles = ["viewer", "operator", "admin"] as const satisfies readonly string[];

export type AgentRole = (typeof roles)[number];

export type AccessGrant = {
  readonly grant_id: number | null;
  readonly agent_id: string;
  /** 0 for a grant to an audience. */
  readonly user_id: number;
  readonly role: AgentRole;
  readonly workspace_id: string | null;
  readonly granted_by_user_id: number | null;
  readonly granted_at: string | null;
  readonly metadata: JsonMap;
  readonly audience_id: string | null;
};

type MaybeLater<Value> = Value | Promise<Value>;

/** Where grants to users are kept. A grant counts in its own workspace only; null is a workspace of its own. */
export interface AccessStore {
  grantAccess(grant: AccessGrant): MaybeLater<AccessGrant>;
  revokeAccess(agentId: string, userId: number, workspaceId?: string | null): MaybeLater<boolean>;
  getAccess(agentId: string, userId: number, workspaceId?: string | null): MaybeLater<AccessGrant | null>;
  getAgentIdsForUser(
    userId: number,
    minimumRole?: AgentRole,
    workspaceId?: string | null,
  ): MaybeLater<readonly string[]>;
  getUsersForAgent(agentId: string, workspaceId?: string | null): MaybeLater<readonly AccessGrant[]>;
}

/** A store that also keeps grants to audiences, and finds those of a principal by its user or its audience. */
export interface PrincipalAccessStore extends AccessStore {
  getAccessForPrincipal(
    agentId: string,
    principal: Principal,
    workspaceId?: string | null,
  ): MaybeLater<AccessGrant | null>;
  getAgentIdsForPrincipal(
    principal: Principal,
    minimumRole?: AgentRole,
    workspaceId?: string | null,
  ): MaybeLater<readonly string[]>;
}

/** A frozen record with all its fields. Throws `invalid_wp_agent_access_grant` with the first field that is wrong. */
export function fromArray(value: unknown): AccessGrant {
  const given = readFields(value, invalid);
  const agent_id = textField(given.agent_id);
  const user_id = userId(given.user_id);
  const audience_id = optionalText(given.audience_id);
  if (trim(agent_id) === "") throw invalid("agent_id must not be blank");
  if (user_id < 0) throw invalid("user_id must not be negative");
  if (user_id === 0 && audience_id === null) throw invalid("user_id must be positive unless an audience_id is given");
  if (audience_id !== null && trim(audience_id) === "") throw invalid("audience_id must not be blank");
  const grant_id = optionalId(given.grant_id, "grant_id");
  const granted_by_user_id = optionalId(given.granted_by_user_id, "granted_by_user_id");
  return seal({
    grant_id,
    agent_id,
    user_id,
    role: roleOf(given.role),
    workspace_id: optionalText(given.workspace_id),
    granted_by_user_id,
    granted_at: optionalText(given.granted_at),
    metadata: mapField(given, "metadata", invalid),
    audience_id,
  });
}

/** True for a role exactly as it is written in a grant. */
export function isRole(value: unknown): value is AgentRole {
  return roles.some((role) => role === value);
}

/** True when both are roles and the first may do what the second may. */
export function roleMeets(role: unknown, minimumRole: unknown): boolean {
  return isRole(role) && isRole(minimumRole) && roles.indexOf(role) >= roles.indexOf(minimumRole);
}

// A role of the wrong kind says nothing, which is the least; a word that is no role was meant to say something.
function roleOf(value: unknown): AgentRole {
  if (value == null || isContainer(value)) return "viewer";
  if (!isRole(value)) throw invalid("role must be viewer, operator or admin");
  return value;
}

function optionalId(value: unknown, field: string): number | null {
  if (value == null) return null;
  const id = userId(value);
  if (id <= 0) throw invalid(`${field} must be positive`);
  return id;
}

function invalid(detail: string, cause?: unknown) {
  return holdfastError("invalid_wp_agent_access_grant", detail, cause);
}
