// What tells that a message came in before: services deliver again when they are not sure.
import { createHash } from "node:crypto";
import { identifier } from "../coerce.ts";
import { foldConnector } from "./connector-slug.ts";

/** The key of a provider's message; null where a blank id says nothing, so that such messages are never taken for one. */
export function storageKey(provider: unknown, messageId: unknown): string | null {
  const scope = foldConnector(provider);
  const id = identifier(messageId);
  if (scope === "" || id === undefined) return null;
  return `wp_agent_message_seen_${createHash("md5").update(`${scope}:${id}`).digest("hex")}`;
}
