// Which session an external conversation goes on in: what it is kept under.
import { createHash } from "node:crypto";
import { scalarText } from "../coerce.ts";
import { foldConnector } from "./connector-slug.ts";

/** One conversation of one connector; each agent has a session of its own in it. */
export type ExternalConversation = {
  readonly connector_id: string;
  /** As the service writes it: case and spaces count. */
  readonly external_conversation_id: string;
  readonly agent_slug?: string;
};

/** The key of a conversation. It tells nothing of the ids that are in it. */
export function storageKey({ connector_id, external_conversation_id, agent_slug = "" }: ExternalConversation): string {
  const id = scalarText(external_conversation_id) ?? "";
  const text = `${foldConnector(connector_id)}:${id}:${foldConnector(agent_slug)}`;
  // Whoever finds two conversations of one key has to have made both: this keeps out nobody.
  return `wp_agent_channel_session_${createHash("md5").update(text).digest("hex")}`;
}
