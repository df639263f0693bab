// The operations on grants: give somebody an agent in a role, see who was given what, take it back. Nobody gives a role that
// he does not have himself.
import { z } from "zod";
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import { type AccessGrant, type AgentRole, roleMeets, roles } from "../contracts/trust/access-grant.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { id, jsonMap } from "./shapes.ts";

const PAGE = 100;

const agent = id.meta({ description: "The slug of the agent." });
const userId = z.coerce.number().int().min(1).meta({ description: "The user who is given it." });
const audienceId = id.meta({ description: "Everybody in this audience, in place of a user." });
const workspaceId = id.meta({ description: "Where it counts; the caller's own unless given." });

const holder = { user_id: userId.optional(), audience_id: audienceId.optional() };

const grantShape = z.object({
  grant_id: z.int().nullable(),
  agent_id: z.string(),
  user_id: z.int(),
  role: z.enum(roles),
  workspace_id: z.string().nullable(),
  granted_by_user_id: z.int().nullable(),
  granted_at: z.string().nullable(),
  metadata: jsonMap,
  audience_id: z.string().nullable(),
});

type Holder = { readonly user_id?: number | undefined; readonly audience_id?: string | undefined };

export function grantOperations({ runtime, define, reach }: Workbench): readonly Operation[] {
  const { grants, authority, agents } = runtime;

  /** True when the caller has the role there, or manages everything. That an agent is its own says nothing here. */
  async function hasRole(principal: Principal, slug: string, role: AgentRole, workspace_id: string | null) {
    if (await reach.managesThreads(principal)) return true;
    return await authority.hasRole({ ...principal, workspace_id }, slug, role);
  }

  async function checkRole(principal: Principal, slug: string, role: AgentRole, workspace_id: string | null) {
    if (!(await hasRole(principal, slug, role, workspace_id))) {
      throw refused(`the caller has not the role ${role} for "${slug}" himself`);
    }
  }

  /** Less in the place of more takes something away, which is for whoever could take back all of it. */
  async function checkReplaces(before: AccessGrant, role: AgentRole, principal: Principal): Promise<void> {
    const { agent_id, role: had, workspace_id } = before;
    if (roleMeets(role, had)) return;
    if ((await isSeen(before, principal)) && (await hasRole(principal, agent_id, had, workspace_id))) return;
    throw refused(`there is a role for "${agent_id}" that the caller could not take back`);
  }

  /** Somebody's own are no secret from him, nor is anything from who administers the agent. */
  async function isSeen({ agent_id, user_id, workspace_id }: AccessGrant, principal: Principal): Promise<boolean> {
    if (principal.workspace_id !== null && workspace_id !== principal.workspace_id) return false;
    if (user_id > 0 && user_id === principal.acting_user_id) return true;
    return await hasRole(principal, agent_id, "admin", workspace_id);
  }

  return [
    define({
      name: "holdfast/grant-access",
      title: "Give somebody an agent",
      description: "Gives an agent to a user or an audience in a role, in place of what was given there before.",
      input: z.object({
        agent,
        ...holder,
        role: z.enum(roles).default("viewer"),
        workspace_id: workspaceId.optional(),
      }),
      output: grantShape,
      effect: "write",
      idempotent: true,
      capability: "tokens.manage",
      route: { method: "post", path: "/grants", status: 201 },
      async execute({ agent: slug, role, workspace_id: given, ...to }, { principal }) {
        const workspace_id = workspaceFor(given, principal);
        // In this order: which agents there are is not for everybody to know.
        await checkRole(principal, slug, role, workspace_id);
        if (!agents.has(slug)) throw holdfastError("agent_not_found", `There is no agent "${slug}".`);
        const before = await grants.get(slug, oneOf(to), workspace_id);
        if (before) await checkReplaces(before, role, principal);
        const by = principal.acting_user_id > 0 ? { granted_by_user_id: principal.acting_user_id } : {};
        return plain(await grants.grant({ agent: slug, ...oneOf(to), role, workspace_id, ...by }));
      },
    }),

    define({
      name: "holdfast/list-grants",
      title: "List who was given agents",
      description: "Lists the grants of an agent, or those of a user or an audience.",
      input: z.object({
        agent: agent.optional(),
        ...holder,
        after: z.coerce.number().int().min(0).default(0).meta({ description: "The number of the last one seen." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({ grants: z.array(grantShape), has_more: z.boolean() }),
      effect: "read",
      capability: "tokens.manage",
      route: { method: "get", path: "/grants" },
      async execute({ agent: slug, after, limit, ...of }, { principal }) {
        const found = await grants.list(slug === undefined ? oneOf(of) : { agent: slug });
        const seen: AccessGrant[] = [];
        for (const grant of found.filter(({ grant_id }) => (grant_id ?? 0) > after)) {
          if (isOf(grant, of) && (await isSeen(grant, principal))) seen.push(grant);
          if (seen.length > limit) break;
        }
        return plain({ grants: seen.slice(0, limit), has_more: seen.length > limit });
      },
    }),

    define({
      name: "holdfast/revoke-access",
      title: "Take an agent back",
      description: "Takes back what somebody was given. False when there was nothing to take back.",
      input: z.object({ agent, ...holder, workspace_id: workspaceId.optional() }),
      output: z.object({ revoked: z.boolean() }),
      effect: "destroy",
      idempotent: true,
      capability: "tokens.manage",
      route: { method: "delete", path: "/grants" },
      async execute({ agent: slug, workspace_id: given, ...of }, { principal }) {
        const workspace_id = workspaceFor(given, principal);
        const grant = await grants.get(slug, oneOf(of), workspace_id);
        if (!grant || !(await isSeen(grant, principal))) return { revoked: false };
        await checkRole(principal, slug, grant.role, workspace_id);
        return { revoked: await grants.revoke(slug, oneOf(of), workspace_id) };
      },
    }),
  ];
}

/** Whoever was let in for one workspace gives nothing in another. */
function workspaceFor(given: string | undefined, { workspace_id: own }: Principal): string | null {
  if (own === null || given === undefined || given === own) return given ?? own;
  throw refused(`the caller was let in for another workspace than "${given}"`);
}

/** A user or an audience: one that names both would be the user's, and be read as everybody's. */
function oneOf({ user_id, audience_id }: Holder): { readonly user_id: number } | { readonly audience_id: string } {
  if ((user_id === undefined) === (audience_id === undefined)) {
    throw holdfastError("invalid_input", "Name a user_id or an audience_id, and not both.");
  }
  return user_id !== undefined ? { user_id } : { audience_id: audience_id ?? "" };
}

function isOf(grant: AccessGrant, of: Holder): boolean {
  return Object.entries(defined(of)).every(([field, value]) => grant[field as keyof Holder] === value);
}

function refused(why: string): HoldfastError {
  return holdfastError("ability_forbidden", `Nobody gives more than he has: ${why}.`);
}
