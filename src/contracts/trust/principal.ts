// Who acts, for which agent, how they were authenticated and in which scope: the record that every execution carries. It
// decides nothing and stores nothing, and it holds what no model or browser may see: `safeMetadata` is what they get.
import { createBrand } from "../brand.ts";
import { trim } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { asMap, isContainer, type JsonMap, seal } from "../json.ts";
import * as callerContext from "./caller-context.ts";
import * as capabilityCeiling from "./capability-ceiling.ts";
import { mapField, optionalText, readFields, textField } from "./record-fields.ts";
import { userId } from "./user-id.ts";

/** How an execution can have been authenticated; a host may know more. */
export const knownAuthSources = [
  "user",
  "application_password",
  "agent_token",
  "audience",
  "runtime",
  "system",
] as const satisfies readonly string[];

export type Principal = {
  /** 0 is the system, or somebody whom nobody knows. */
  readonly acting_user_id: number;
  readonly effective_agent_id: string;
  readonly auth_source: string;
  /** Where the request came from, such as `rest`, `cli`, `cron`, `chat` or `runtime`. */
  readonly request_context: string;
  readonly token_id: number | null;
  readonly request_metadata: JsonMap;
  readonly workspace_id: string | null;
  readonly client_id: string | null;
  readonly capability_ceiling: capabilityCeiling.CapabilityCeiling | null;
  readonly caller_context: callerContext.CallerContext | null;
  readonly audience_id: string | null;
  readonly audience_claims: JsonMap;
  /** An owner of conversations other than the user or the token; both or neither. */
  readonly owner_type: string | null;
  readonly owner_key: string | null;
  /** The host's cryptographic claims. */
  readonly binding: JsonMap | null;
};

/** What may be said about a principal beside who it is; fields have the meaning they have in the record. */
type Scope = Partial<Pick<Principal, "request_context" | "workspace_id" | "client_id">> & {
  readonly request_metadata?: unknown;
};
type Narrowed = Scope & { readonly capability_ceiling?: unknown; readonly caller_context?: unknown };
type Claimed = Scope & { readonly audience_claims?: unknown; readonly owner_key?: string | null | undefined };

const principals = createBrand();

/**
 * A frozen record with all its fields. Throws `invalid_agent_execution_principal` with the first field that is wrong,
 * and what a ceiling or a caller context in it throws. A host that knows other ways to authenticate passes the list of
 * all of them; what is not a list knows none.
 */
export function fromArray(value: unknown, authSources: unknown = knownAuthSources): Principal {
  if (isContainer(value) && principals.has(value)) return value as Principal;
  const given = readFields(value, invalid);
  const { capability_ceiling, caller_context, binding } = given;
  // First, because what is wrong in them is told before what is wrong in the principal.
  const ceiling = isContainer(capability_ceiling) ? capabilityCeiling.fromArray(capability_ceiling) : null;
  const caller = isContainer(caller_context) ? callerContext.fromArray(caller_context) : null;
  const named = {
    acting_user_id: userId(given.acting_user_id),
    effective_agent_id: textField(given.effective_agent_id),
    auth_source: textField(given.auth_source),
    request_context: textField(given.request_context),
    token_id: given.token_id == null ? null : userId(given.token_id),
    audience_id: optionalText(given.audience_id),
    owner_type: optionalText(given.owner_type),
    owner_key: optionalText(given.owner_key),
  };
  assertNamed(named, authSources);
  const request_metadata = mapField(given, "request_metadata", invalid);
  const audience_claims = mapField(given, "audience_claims", invalid);
  const claims = asMap(binding) === undefined ? null : mapField(given, "binding", invalid);
  assertOwner(named);
  const principal: Principal = {
    acting_user_id: named.acting_user_id,
    effective_agent_id: named.effective_agent_id,
    auth_source: named.auth_source,
    request_context: named.request_context,
    token_id: named.token_id,
    request_metadata,
    workspace_id: optionalText(given.workspace_id),
    client_id: optionalText(given.client_id),
    capability_ceiling: ceiling,
    caller_context: caller,
    audience_id: named.audience_id,
    audience_claims,
    owner_type: named.owner_type,
    owner_key: named.owner_key,
    binding: claims,
  };
  principals.mark(principal);
  return seal(principal);
}

/** The same principal behind a chain of callers. */
export function calledBy(principal: Principal, caller_context: callerContext.CallerContext): Principal {
  const called: Principal = { ...fromArray(principal), caller_context: callerContext.fromArray(caller_context) };
  principals.mark(called);
  return seal(called);
}

/** Somebody who is signed in. */
export function userSession(user: number, agent: string, scope: Narrowed = {}): Principal {
  return fromArray({ acting_user_id: user, effective_agent_id: agent, auth_source: "user", ...narrowed(scope) });
}

/** Whoever holds an agent's token: acts as its owner, and owns conversations as the token. */
export function agentToken(user: number, agent: string, tokenId: number, scope: Narrowed = {}): Principal {
  // Without an id, here an error, a token would pass for one that says nothing about it.
  const identity = { acting_user_id: user, effective_agent_id: agent, token_id: tokenId ?? 0 };
  return fromArray({ ...identity, auth_source: "agent_token", ...narrowed(scope) });
}

/** One of an audience, such as everybody. Without an owner key nothing tells one from another, so none owns anything. */
export function audience(audienceId: string, agent: string, scope: Claimed = {}): Principal {
  const { owner_key = null } = scope;
  const owner = owner_key === null ? {} : { owner_type: "audience", owner_key };
  const identity = { effective_agent_id: agent, auth_source: "audience", audience_id: audienceId };
  return fromArray({ ...identity, ...owner, ...claimed(scope) });
}

/** A runtime that works without a user, such as a sandbox. */
export function runtime(runtimeId: string, agent: string, scope: Omit<Claimed, "request_context"> = {}): Principal {
  const owner = { owner_type: "runtime", owner_key: scope.owner_key ?? runtimeId };
  const identity = { effective_agent_id: agent, auth_source: "runtime", audience_id: runtimeId };
  return fromArray({ ...identity, ...owner, ...claimed(scope), request_context: "runtime" });
}

/** The program itself, acting for nobody. */
export function system(agent: string, scope: Omit<Narrowed, "request_context"> = {}): Principal {
  return fromArray({
    effective_agent_id: agent,
    auth_source: "system",
    ...narrowed(scope),
    request_context: "runtime",
  });
}

/** The principal that a host's resolver answered with, or null for none; anything that is no record throws. */
export function resolve(answer: unknown, authSources?: unknown): Principal | null {
  if (answer === null || answer === undefined) return null;
  if (!isContainer(answer)) throw invalid("principal must be a principal, a record of one, or null");
  return fromArray(answer, authSources);
}

/** True for a way to authenticate that is in the list, exactly as it is written there. */
export function isKnownAuthSource(authSource: unknown, authSources: unknown = knownAuthSources): boolean {
  return Array.isArray(authSources) && authSources.includes(authSource);
}

// Field by field, because a scope that was made of a request may hold whatever the request did.
function scoped({ request_context = "rest", request_metadata, workspace_id, client_id }: Scope) {
  return { request_context, request_metadata, workspace_id, client_id };
}

function narrowed(scope: Narrowed) {
  const { capability_ceiling, caller_context } = scope;
  return { ...scoped(scope), capability_ceiling, caller_context };
}

function claimed(scope: Claimed) {
  return { ...scoped(scope), audience_claims: scope.audience_claims };
}

type Named = Pick<
  Principal,
  | "acting_user_id"
  | "effective_agent_id"
  | "auth_source"
  | "request_context"
  | "token_id"
  | "audience_id"
  | "owner_type"
  | "owner_key"
>;

function assertNamed(named: Named, authSources: unknown): void {
  if (named.acting_user_id < 0) throw invalid("acting_user_id must not be negative");
  if (named.effective_agent_id === "") throw invalid("effective_agent_id must not be empty");
  if (named.auth_source === "") throw invalid("auth_source must not be empty");
  if (!isKnownAuthSource(named.auth_source, authSources)) throw invalid("auth_source must be a known one");
  if (named.request_context === "") throw invalid("request_context must not be empty");
  if (named.token_id !== null && named.token_id <= 0) throw invalid("token_id must be positive");
  if (named.audience_id !== null && trim(named.audience_id) === "") throw invalid("audience_id must not be blank");
}

function assertOwner({ owner_type, owner_key }: Named): void {
  if ((owner_type === null) !== (owner_key === null)) throw invalid("owner needs both its type and its key");
  if (owner_type !== null && trim(owner_type) === "") throw invalid("owner_type must not be blank");
  if (owner_key !== null && trim(owner_key) === "") throw invalid("owner_key must not be blank");
}

function invalid(detail: string, cause?: unknown) {
  return holdfastError("invalid_agent_execution_principal", detail, cause);
}
