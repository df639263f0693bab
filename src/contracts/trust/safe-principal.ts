// What a model, a browser or a log may know about who acts. Never in it: token ids, owner keys, request metadata, claims,
// capability lists and cryptographic bindings.
import { scalarText } from "../coerce.ts";
import { asMap, emptyMap, isContainer, type JsonMap, seal, snapshotMap, type UnknownMap } from "../json.ts";
import { conversationOwner } from "./conversation-owner.ts";
import { userId } from "./user-id.ts";

/** The safe part of a principal record, with whether the rest is there. What is such a part already stays as it is. */
export function safeMetadata(given: unknown): JsonMap {
  const principal = asMap(given) ?? emptyMap;
  if (isSafe(principal)) return snapshotMap(principal);
  const owner = conversationOwner(principal)?.type ?? null;
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

/** The names of all that is safe; with any other beside them it is a record, whatever it says it is. */
const safeFields: ReadonlySet<string> = new Set([
  ...["schema_version", "effective_agent_id", "auth_source", "request_context", "acting_user_id", "workspace_id"],
  ...["client_id", "audience_id", "owner_type", "has_conversation_owner", "has_capability_ceiling"],
  "has_caller_context",
]);

function isSafe(principal: UnknownMap): boolean {
  if (principal.schema_version !== 1) return false;
  return Object.entries(principal).every(([field, value]) => safeFields.has(field) && !isContainer(value));
}

function text(value: unknown): string | null {
  return scalarText(value) ?? null;
}

/** A scope of the wrong kind is still a scope, and not the absence of one. */
function scope(value: unknown): string | null {
  return value == null ? null : (scalarText(value) ?? "");
}
