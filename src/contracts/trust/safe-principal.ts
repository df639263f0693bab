// What a model, a browser or a log may know about who acts. Never in it: token ids, owner keys, request metadata, claims,
// capability lists and cryptographic bindings.
import { trimmed } from "../coerce.ts";
import { isMap, type Json, type JsonMap, seal } from "../json.ts";

/** The safe part of a principal record, with whether the rest is there. */
export function safeMetadata(principal: JsonMap): JsonMap {
  const owner = ownerType(principal);
  return seal({
    schema_version: 1,
    effective_agent_id: text(principal.effective_agent_id),
    auth_source: text(principal.auth_source),
    request_context: text(principal.request_context),
    acting_user_id: userOf(principal),
    workspace_id: text(principal.workspace_id),
    client_id: text(principal.client_id),
    audience_id: text(principal.audience_id),
    owner_type: owner,
    has_conversation_owner: owner !== null,
    has_capability_ceiling: isMap(principal.capability_ceiling),
    has_caller_context: isMap(principal.caller_context),
  });
}

/** Whose conversations these are: the stated owner's, the user's, or the token's; a token never owns as its user. */
function ownerType(principal: JsonMap): string | null {
  const { owner_type, owner_key, auth_source, token_id } = principal;
  if (trimmed(owner_type) !== undefined && trimmed(owner_key) !== undefined) return text(owner_type);
  if (auth_source === "agent_token") return Number.isInteger(token_id) ? "token" : null;
  return userOf(principal) > 0 ? "user" : null;
}

function userOf({ acting_user_id }: JsonMap): number {
  return typeof acting_user_id === "number" ? acting_user_id : 0;
}

function text(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
