// How the keys of threads begin that belong to a caller: two callers never meet under the same key.
import { randomUUID } from "node:crypto";
import { sha256 } from "../contracts/canonical-json.ts";
import { type ConversationOwner, conversationOwner } from "../contracts/trust/conversation-owner.ts";
import type { Principal } from "../contracts/trust/principal.ts";

/**
 * Who the caller is, as part of a key; null for one whom nothing tells from others. Its parts are encoded, so that no name
 * reaches into the next part. A visitor is one of an audience: there may be another of that name elsewhere.
 */
export function callerKey(principal: Principal): string | null {
  const owner = conversationOwner({ ...principal });
  if (!owner) return null;
  const { audience_id } = principal;
  return [owner.type, ...(audience_id === null ? [] : [audience_id]), tellingKey(owner)].map(encoded).join(":");
}

/**
 * Users and tokens are known by their numbers. What else a host tells people apart by may be all that it takes to be taken
 * for one of them, and the keys of threads are shown to others: there stands something that only comes of it.
 */
function tellingKey({ type, key }: ConversationOwner): string {
  const isNumber = (type === "user" || type === "token") && /^\d+$/.test(key);
  return isNumber ? key : sha256(key).slice(0, 32);
}

/** The same for where the caller is; empty for one who was let in for no workspace in particular. */
export function placeKey({ workspace_id }: Principal): string {
  return workspace_id === null ? "" : `@${encoded(workspace_id)}`;
}

/** What the caller calls a thread. One that he does not name is a new one, and the same for the same idempotency key. */
export type ThreadName = {
  readonly key?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** What makes it: the same idempotency key is another one elsewhere. */
  readonly madeBy?: "open" | "fork" | "ask" | "chat";
};

/**
 * The key of a thread that the caller did not name: a repeat under the same idempotency key finds the same one. No name
 * comes to it, because what follows who and where the caller is begins with another sign there.
 */
export function madeKey({ idempotencyKey, madeBy = "open" }: ThreadName, principal: Principal): string {
  const who = callerKey(principal) ?? principal.auth_source;
  return `${who}${placeKey(principal)}#${madeBy}/${idempotencyKey ?? randomUUID()}`;
}

function encoded(part: string): string {
  return encodeURIComponent(part.toWellFormed());
}
