// Who may decide about a proposed action: every condition that a rule names has to hold. It is data, so that an approval
// can be bound to it, and shown to whoever wonders why he may not decide.
import { agentSlug } from "../agents/agent-slug.ts";
import { trimmed } from "../coerce.ts";
import { isMap, snapshotMap, type UnknownMap } from "../json.ts";
import { type AgentRole, isRole } from "./access-grant.ts";
import type { PendingAction } from "./pending-action.ts";
import type { Principal } from "./principal.ts";

export type ApproverRule = {
  /** Users by their numbers; any other is refused. */
  readonly users?: readonly number[];
  /** A capability that the decider must hold, ceilings included. */
  readonly capability?: string;
  /** The role that the decider must have been granted for the agent. */
  readonly role?: AgentRole;
  /** Four eyes: whoever set off the call may not decide about it. */
  readonly other_than_requester?: boolean;
};

/** A host's own say in who may decide; null where the program itself does. */
export type CanDecide = (
  action: PendingAction,
  decision: "accepted" | "rejected",
  by: Principal | null,
) => boolean | PromiseLike<boolean>;

const FIELDS: ReadonlySet<string> = new Set(["users", "capability", "role", "other_than_requester"]);

/** The rule that a value is, frozen; otherwise what is wrong with it, in words. */
export function read(value: unknown): ApproverRule | string {
  if (!isMap(value)) return "must be a map";
  const given: UnknownMap = value;
  const unknown = Object.keys(given).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) return `has no field ${unknown}`;
  const { users, capability, role, other_than_requester } = given;
  // Compared with the numbers of users as they are, so what only looks like one would let nobody in.
  const areUsers =
    Array.isArray(users) && users.length > 0 && users.every((user) => Number.isSafeInteger(user) && user > 0);
  if (users !== undefined && !areUsers) return "users must be a list of user numbers";
  if (capability !== undefined && trimmed(capability) === undefined) return "capability must be a name";
  if (role !== undefined && !isRole(role)) return "role must be viewer, operator or admin";
  if (other_than_requester !== undefined && typeof other_than_requester !== "boolean") {
    return "other_than_requester must be true or false";
  }
  return snapshotMap(given) as ApproverRule;
}

export type ApproverPorts = {
  readonly authorize: (principal: Principal, capability: string) => boolean | Promise<boolean>;
  readonly hasRole: (principal: Principal, agent: string, role: AgentRole) => boolean | Promise<boolean>;
};

/** Who asks for the decision. */
export type Asked = {
  /** The agent whose action it is. */
  readonly agent: string;
  /** The agent that the thread began with, where another has taken over. */
  readonly origin_agent?: string;
  /** The agents that had it do its work. */
  readonly ancestors?: readonly string[];
  readonly requester: Principal;
};

/** Why the principal may not decide, in words; undefined when he may. Somebody who cannot be judged may not. */
export async function refusalOf(
  rule: ApproverRule,
  by: Principal,
  asked: Asked,
  { authorize, hasRole }: ApproverPorts,
): Promise<string | undefined> {
  const { users, capability, role, other_than_requester } = rule;
  const { agent, requester } = asked;
  if (isAgentItself(by, asked)) return "an agent does not decide about its own actions";
  if (users && !users.includes(by.acting_user_id)) return "only certain users may";
  if (other_than_requester && isSame(by, requester)) return "somebody else than who asked has to";
  if (capability !== undefined && !(await answers(authorize(by, capability)))) return `it takes "${capability}"`;
  if (role !== undefined && !(await answers(hasRole(by, agent, role)))) return `it takes the role ${role}`;
  return undefined;
}

/** How somebody acts behind whom there need not be a person. */
const withoutPerson: ReadonlySet<string> = new Set(["agent_token", "runtime", "system"]);

/** True where it may be a program alone that acts. */
export function mayHaveNoPerson({ auth_source }: Pick<Principal, "auth_source">): boolean {
  return withoutPerson.has(auth_source);
}

/**
 * True for a principal behind whom there is no person, but one of the agents whose work it is, and for the token that set
 * it off: they would agree to what they have proposed.
 */
export function isAgentItself(by: Principal, { agent, origin_agent, ancestors = [], requester }: Asked): boolean {
  const { effective_agent_id, token_id } = by;
  if (token_id !== null && token_id === requester.token_id) return true;
  if (!mayHaveNoPerson(by)) return false;
  // As slugs, because that is what agents are found by, however a token or a host spells them.
  const own = [agent, origin_agent ?? agent, ...ancestors].map(agentSlug);
  return own.includes(agentSlug(effective_agent_id));
}

/** Nobody in particular is the same as anybody. */
function isSame(one: Principal, other: Principal): boolean {
  return one.acting_user_id === 0 || one.acting_user_id === other.acting_user_id;
}

async function answers(asked: boolean | Promise<boolean>): Promise<boolean> {
  try {
    return (await asked) === true;
  } catch {
    return false;
  }
}
