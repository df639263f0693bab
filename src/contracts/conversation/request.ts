// What a conversation is asked to do: the messages to start from, the tools it may call and what the caller knows.
import { truthy, wholeNumber } from "../coerce.ts";
import { errorMessage, type HoldfastError, holdfastError } from "../error.ts";
import { asMap, isEmpty, isMap, type JsonMap, snapshotMap } from "../json.ts";
import { normalizeForConversationRequest } from "../tools/declaration.ts";
import * as workspace from "../workspace.ts";
import * as message from "./message.ts";
import * as runtimeOverrides from "./runtime-overrides.ts";

export type ConversationRequest = {
  readonly messages: readonly message.Message[];
  readonly tools: readonly ReturnType<typeof normalizeForConversationRequest>[];
  readonly principal: JsonMap | null;
  readonly runtime_context: JsonMap;
  readonly metadata: JsonMap;
  readonly max_turns: number;
  readonly single_turn: boolean;
  readonly workspace: workspace.Workspace | null;
  readonly runtime_overrides: runtimeOverrides.RuntimeOverrides;
};

const DEFAULT_MAX_TURNS = 10;

/**
 * A request with everything read and defaulted; overrides are written into the runtime context. A bad message throws
 * `invalid_ai_message_envelope`, a bad tool `invalid_agent_conversation_request` with its `tools[i]`, and a bad workspace
 * `invalid_agent_workspace_scope`.
 */
export function normalize(input: {
  messages: unknown;
  tools: unknown;
  principal?: unknown;
  runtime_context?: unknown;
  metadata?: unknown;
  max_turns?: unknown;
  single_turn?: unknown;
  workspace?: unknown;
  runtime_overrides?: unknown;
}): ConversationRequest {
  const overrides = runtimeOverrides.normalize(input.runtime_overrides);
  return Object.freeze({
    messages: message.normalizeMany(input.messages),
    tools: normalizeTools(input.tools),
    principal: asMap(input.principal) ? snapshotMap(input.principal) : null,
    runtime_context: Object.freeze({
      ...snapshotMap(input.runtime_context),
      ...runtimeOverrides.intoContext(overrides),
    }),
    metadata: snapshotMap(input.metadata),
    max_turns: wholeNumber(input.max_turns, 1) ?? DEFAULT_MAX_TURNS,
    single_turn: truthy(input.single_turn),
    workspace: asMap(input.workspace) ? workspace.normalize(input.workspace) : null,
    runtime_overrides: overrides,
  });
}

function normalizeTools(value: unknown): ConversationRequest["tools"] {
  if (value == null || (isMap(value) && isEmpty(value))) return [];
  if (!Array.isArray(value)) throw invalid("tools must be a list");
  return Object.freeze(value.map(normalizeTool));
}

function normalizeTool(value: unknown, index: number): ConversationRequest["tools"][number] {
  try {
    return normalizeForConversationRequest(value);
  } catch (thrown) {
    throw invalid(`tools[${index}] is not a valid declaration: ${errorMessage(thrown)}`, thrown);
  }
}

function invalid(detail: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_agent_conversation_request", detail, cause);
}
