// What a model, a browser or a log may know about who acts. Never in it: token ids, owner keys, request metadata, claims,
// capability lists and cryptographic bindings.
import { identifier, scalarText } from "../coerce.ts";
import { asMap, emptyMap, type JsonMap, seal, type UnknownMap } from "../json.ts";
import { userId } from "./capability-ceiling.ts";

/** The safe part of a principal record, with whether the rest is there. */
export function safeMetadata(given: unknown): JsonMap {
  const principal = asMap(given) ?? emptyMap;
  const owner = ownerType(principal);
  return seal({
    schema_version: 1,
    effective_agent_id: text(principal.effective_agent_id),
    auth_source: text(principal.auth_source),
    request_context: text(principal.request_context),
    acting_user_id: userId(principal.acting_user_id),
    workspace_id: scope(principal.workspace_id),
    client_id: scope(principal.client_id),
    audience_id: text(principal.audience_id),
    owner_type: owner,
    has_conversation_owner: owner !== null,
    has_capability_ceiling: asMap(principal.capability_ceiling) !== undefined,
    has_caller_context: asMap(principal.caller_context) !== undefined,
  });
}

/** Whose conversations these are: the stated owner's, the user's, or the token's; a token never owns as its user. */
function ownerType({ owner_type, owner_key, auth_source, token_id, acting_user_id }: UnknownMap): string | null {
  const stated = identifier(owner_type);
  if (stated !== undefined && identifier(owner_key) !== undefined) return stated;
  if (auth_source === "agent_token") return userId(token_id) > 0 ? "token" : null;
  return userId(acting_user_id) > 0 ? "user" : null;
}

function text(value: unknown): string | null {
  return scalarText(value) ?? null;
}

/** A scope of the wrong kind is still a scope, and not the absence of one. */
function scope(value: unknown): string | null {
  return value == null ? null : (scalarText(value) ?? "");
}
