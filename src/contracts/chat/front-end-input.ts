// A chat request of a web page as the input of the chat ability.
import { agentSlug } from "../agents/agent-slug.ts";
import { scalarText, trim } from "../coerce.ts";
import { asMap, emptyMap, isContainer, type Json, type JsonMap, seal, snapshot } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";
import { safeClientContext } from "./chat-input.ts";

export type FrontEndInput = {
  readonly agent: string;
  /** As it was written, space around it included. */
  readonly message: string;
  readonly session_id: string | null;
  readonly attachments: readonly Json[];
  readonly client_context: JsonMap;
  readonly workspace_id: string | null;
  readonly client_id: string | null;
};

/** The input, or `agents_frontend_chat_invalid_input` for a request without an agent or a message. */
export function frontEndInput(params: unknown): FrontEndInput | OperationError {
  const given = asMap(params) ?? emptyMap;
  const agent = agentSlug(given.agent);
  const message = scalarText(given.message) ?? "";
  if (agent === "" || trim(message) === "") {
    const refused = "A chat needs the slug of an agent and a message.";
    return operationError("agents_frontend_chat_invalid_input", refused, { status: 400 });
  }
  const context = asMap(given.client_context) ?? emptyMap;
  const client_name = nameOf(context.client_name);
  return seal({
    agent,
    message,
    session_id: optional(given.session_id),
    attachments: snapshot(isContainer(given.attachments) ? Object.values(given.attachments) : []) as readonly Json[],
    client_context: seal({ ...safeClientContext(context), source: "rest", client_name }),
    workspace_id: optional(given.workspace_id),
    client_id: optional(given.client_id),
  });
}

/** What a client calls itself, as it has written it. */
function nameOf(value: unknown): string {
  const name = scalarText(value) ?? "";
  return trim(name) === "" ? "frontend-chat" : name;
}

function optional(value: unknown): string | null {
  return value == null ? null : (scalarText(value) ?? "");
}
