// The parameters of a JSON-RPC message as the input of the chat ability.
import { nonEmptyString, scalarText, trim, trimmed, truthy } from "../coerce.ts";
import type { Message } from "../conversation/message.ts";
import { asMap, emptyMap, isMap, type JsonMap, seal, snapshotMap, type UnknownMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import { safeClientContext } from "./chat-input.ts";
import { pairedTools } from "./jsonrpc-tools.ts";

export type JsonRpcInput = {
  readonly agent: string;
  readonly message: string;
  readonly history: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  readonly session_id: string | null;
  readonly run_id: string | null;
  readonly attachments: readonly JsonMap[];
  readonly client_context: JsonMap;
  readonly input_messages?: readonly Message[];
  readonly token_streaming?: boolean;
};

/** The input, or a refusal: something is wrong with its tools, or nothing is said, or nobody is spoken to. */
export function inputFromParams(given: unknown, agent: unknown, outer?: unknown): JsonRpcInput | OperationError {
  const params = asMap(given) ?? emptyMap;
  const parts = partsOf(params);
  const data = parts.flatMap((part) => (part.type === "data" ? [asMap(part.data) ?? emptyMap] : []));
  const tools = pairedTools(data);
  if (isOperationError(tools)) return tools;
  const text = trim(parts.map(textOf).join(""));
  const slug = trimmed(agent);
  if (slug === undefined || (text === "" && tools.length === 0)) {
    return operationError(
      "agents_chat_jsonrpc_invalid_params",
      "A message needs an agent, and text or a tool's result.",
    );
  }
  const body = asMap(outer) ?? emptyMap;
  return seal({
    agent: slug,
    message: text,
    history: data.flatMap(historyOf),
    session_id: idOf(params.sessionId),
    run_id: idOf(params.id),
    attachments: parts.flatMap((part) => (part.type === "file" ? [snapshotMap(part.file)] : [])),
    client_context: contextOf(data, params.metadata),
    ...(tools.length > 0 && { input_messages: tools }),
    ...(Object.hasOwn(body, "tokenStreaming") && { token_streaming: truthy(body.tokenStreaming) }),
  });
}

/** As the client has written it; whoever uses it says which ids there are. */
function idOf(value: unknown): string | null {
  return nonEmptyString(scalarText(value)) ?? null;
}

function partsOf(params: UnknownMap): readonly UnknownMap[] {
  const parts = asMap(params.message)?.parts;
  return Array.isArray(parts) ? parts.filter(isMap) : [];
}

/** What the user has said. What a client shows beside it is context, and not the user's words. */
function textOf({ type, text, contentType }: UnknownMap): string {
  return type === "text" && contentType !== "context" ? (scalarText(text) ?? "") : "";
}

const speakers: Readonly<Record<string, "user" | "assistant">> = { user: "user", agent: "assistant" };

function historyOf({ role, text }: UnknownMap): JsonRpcInput["history"] {
  const speaker = typeof role === "string" && Object.hasOwn(speakers, role) ? speakers[role] : undefined;
  if (speaker === undefined || typeof text !== "string" || trim(text) === "") return [];
  return [{ role: speaker, content: text }];
}

function contextOf(data: readonly UnknownMap[], metadata: unknown): JsonMap {
  const merged = Object.assign({}, ...data.map(({ clientContext }) => snapshotMap(clientContext)));
  const told = isMap(metadata) ? { ...merged, metadata } : merged;
  return seal({ ...safeClientContext(told), source: "jsonrpc", client_name: "jsonrpc-chat" });
}
