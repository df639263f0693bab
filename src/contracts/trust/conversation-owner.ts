// Whose a conversation is, and whether a request that names an owner may do so.
import { identifier, lowered, scalarText } from "../coerce.ts";
import { asMap, seal, type UnknownMap } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";
import { userId } from "./user-id.ts";

/** Who owns conversations: a user by number, a token, an audience's visitor, or whatever a host tells apart. */
export type ConversationOwner = { readonly type: string; readonly key: string };

/**
 * The owner that a principal states, else its user, else its token; null when it owns nothing. A token never owns as its
 * user, so that what was said through a token stays apart from what the user said.
 */
export function conversationOwner(principal: UnknownMap): ConversationOwner | null {
  const { owner_type, owner_key } = principal;
  if (identifier(owner_type) !== undefined && identifier(owner_key) !== undefined) {
    return seal({ type: String(owner_type), key: String(owner_key) });
  }
  if (principal.auth_source === "agent_token") return numbered("token", principal.token_id);
  return numbered("user", principal.acting_user_id);
}

/** Everybody shares these, so what is owned by them is nobody's own. */
const sharedKeys: ReadonlySet<string> = new Set(["public", "audience:public"]);

/** The owner that a request names in `session_owner`, or in that of its `client_context`, as it names it; null without one. */
export function claimedOwner(input: UnknownMap): ConversationOwner | null {
  const claim = asMap(input.session_owner) ?? asMap(asMap(input.client_context)?.session_owner);
  if (claim === undefined) return null;
  const type = ownerType(claim.type ?? claim.owner_type);
  const key = identifier(claim.key ?? claim.owner_key) ?? "";
  return seal({ type, key: type === "user" ? key.replace(/^user:(?=.)/s, "") : key });
}

/** A type of owner as it is compared: in small letters, without anything that no type has. */
export function ownerType(value: unknown): string {
  return lowered(scalarText(value) ?? "").replace(/[^a-z0-9_-]+/g, "");
}

/**
 * The owner that a request names; null when it names none. The claim only ever repeats who the principal is: anything else
 * is refused.
 */
export function fromInput(input: UnknownMap, principal: UnknownMap): ConversationOwner | null | OperationError {
  const claimed = claimedOwner(input);
  if (claimed === null) return null;
  const { type, key } = claimed;
  if (type === "" || key === "") return refused("invalid_owner", "An owner of a conversation has a type and a key.");
  if (type === "audience" && sharedKeys.has(key)) {
    return refused("non_isolating_owner", "Conversations of everybody would be shared by everybody.");
  }
  if (isSameOwner(claimed, conversationOwner(principal))) return claimed;
  const code = type === "user" ? "user_owner_forbidden" : "owner_forbidden";
  return refused(code, "The conversations of another owner cannot be asked for.");
}

export function isSameOwner(one: ConversationOwner | null, other: ConversationOwner | null): boolean {
  return one?.type === other?.type && one?.key === other?.key;
}

function refused(code: string, message: string): OperationError {
  return operationError(`agents_conversation_session_${code}`, message);
}

function numbered(type: string, id: unknown): ConversationOwner | null {
  const number = userId(id);
  return number > 0 ? seal({ type, key: String(number) }) : null;
}
