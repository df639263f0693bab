// Whom a thread acts for: the principal behind every call it makes, where it acts, whose conversation it is, and what
// that person has agreed to.
import type { StoredSubject } from "../backend/subject-store.ts";
import { trimmed } from "../contracts/coerce.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap, type JsonMap, seal, type UnknownMap } from "../contracts/json.ts";
import { type ConsentOperation, operations } from "../contracts/trust/consent.ts";
import { conversationOwner } from "../contracts/trust/conversation-owner.ts";
import * as principals from "../contracts/trust/principal.ts";
import type { Workspace } from "../contracts/workspace.ts";
import * as workspaces from "../contracts/workspace.ts";
import type { Agent } from "./agent.ts";
import { runOptions } from "./agent.ts";
import { usualPrincipal } from "./agent-options.ts";
import { checkName } from "./check-arguments.ts";

export type Consent = Readonly<Partial<Record<ConsentOperation, boolean>>>;

export type Subject = {
  readonly principal: principals.Principal;
  readonly workspace: Workspace | null;
  readonly owner: { readonly type: string; readonly key: string } | null;
  /** Where the thread is used: `chat` and the like, or a mode in which nobody is present. */
  readonly context: string;
  readonly consent: Consent;
};

/** What a thread may be opened with. */
export type SubjectOptions = {
  /** Who acts; the system itself unless given. Every capability that its tools take is asked of this principal. */
  readonly principal?: UnknownMap;
  readonly workspace?: UnknownMap;
  /** Where it is used, `chat` unless given; in other modes than `chat`, `interactive` and `rest` nobody can consent. */
  readonly context?: string;
  /** What the person behind it has agreed to, operation by operation. */
  readonly consent?: Consent;
};

const CHAT = "chat";

/** True when something was said about the subject of a thread that is opened. */
export function namesSubject({ principal, workspace, context, consent }: SubjectOptions): boolean {
  return [principal, workspace, context, consent].some((given) => given !== undefined);
}

/**
 * The subject of an opened thread as it is stored, also when nothing was said about it: it stays whose it is, whichever
 * agent acts on it later. Throws what is wrong with it.
 */
export function newSubject(agent: Agent, options: SubjectOptions): StoredSubject {
  const { principal, workspace, context, consent } = options;
  const who = principal === undefined ? defaultPrincipal(agent) : principals.fromArray(principal);
  const where = workspace === undefined ? undefined : workspaces.normalize(workspace);
  const mode = context === undefined ? CHAT : (trimmed(context) ?? "");
  const owner = conversationOwner(who);
  checkName("context", mode);
  if (where) checkName("workspace_id", where.workspace_id);
  if (owner) checkName("owner_key", owner.key);
  return stored({
    principal: who,
    workspace: where ?? agentWorkspace(agent),
    owner,
    context: mode,
    consent: readConsent(consent ?? {}),
  });
}

/** The subject of a thread, from what is stored of it. */
export function subjectOf(agent: Agent, row: StoredSubject | null | undefined): Subject {
  if (!row) {
    const principal = defaultPrincipal(agent);
    return { principal, workspace: agentWorkspace(agent), owner: null, context: CHAT, consent: {} };
  }
  return readSubject(row, () => agentWorkspace(agent));
}

/** A subject as it is stored; `usually` tells where it acts if it does not say so itself. */
export function readSubject(row: StoredSubject, usually: () => Workspace | null = () => null): Subject {
  const { workspace_type, workspace_id, context } = row;
  const isSomewhere = workspace_type !== null && workspace_id !== null;
  return {
    principal: principals.fromArray(JSON.parse(row.principal)),
    workspace: isSomewhere ? { workspace_type, workspace_id } : usually(),
    owner: ownerIn(row),
    context,
    consent: JSON.parse(row.consent) as Consent,
  };
}

/** Whose conversation it is, from what is stored; null when it is nobody's. */
export function ownerIn(row: StoredSubject | null | undefined): Subject["owner"] {
  if (!row || row.owner_type === null || row.owner_key === null) return null;
  return { type: row.owner_type, key: row.owner_key };
}

export function stored({ principal, workspace, owner, context, consent }: Subject): StoredSubject {
  return {
    principal: JSON.stringify(principal),
    workspace_type: workspace?.workspace_type ?? null,
    workspace_id: workspace?.workspace_id ?? null,
    owner_type: owner?.type ?? null,
    owner_key: owner?.key ?? null,
    context,
    consent: JSON.stringify(consent),
  };
}

/** What a policy of consent is told. */
export function consentContext(agent: string, { principal, context, consent }: Subject): JsonMap {
  return seal({ mode: context, consent: { ...consent }, agent_id: agent, user_id: principal.acting_user_id });
}

/** Consent by operation. Throws `invalid_argument` for an operation that there is not, and for a maybe. */
export function readConsent(given: unknown): Consent {
  if (!isMap(given)) throw holdfastError("invalid_argument", "consent must be a map");
  for (const [operation, answer] of Object.entries(given)) {
    if (!operations.some((known) => known === operation)) {
      throw holdfastError("invalid_argument", `consent knows ${operations.join(", ")}, not "${operation}"`);
    }
    if (typeof answer !== "boolean")
      throw holdfastError("invalid_argument", `consent.${operation} must be true or false`);
  }
  return seal({ ...given }) as Consent;
}

/** What the agent itself was defined with, or the system. */
function defaultPrincipal(agent: Agent): principals.Principal {
  const { principal: own, context } = runOptions(agent);
  const principal = own ?? context?.principal;
  return isMap(principal) ? lenient(principal, agent) : principals.system(agent.slug);
}

/** An agent's principal may say only what matters to it. */
function lenient(principal: UnknownMap, { slug }: Agent): principals.Principal {
  return principals.fromArray({ ...usualPrincipal, effective_agent_id: slug, ...principal });
}

/** Where an agent is defined to act; null where it says nothing of that. */
export function agentWorkspace(agent: Agent): Workspace | null {
  const { workspace } = runOptions(agent);
  return isMap(workspace) ? workspaces.normalize(workspace) : null;
}
