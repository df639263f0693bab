// One question to a model and its answer: what a provider adapter is handed, and what it must hand back.
import { nonEmptyString } from "../coerce.ts";
import { HoldfastError, holdfastError } from "../error.ts";
import {
  asMap,
  emptyMap,
  isContainer,
  isMap,
  type Json,
  type JsonMap,
  seal,
  snapshot,
  snapshotMap,
  type UnknownMap,
} from "../json.ts";
import { normalizeForConversationRequest, type ToolDeclaration, type ToolMap } from "../tools/declaration.ts";
import { modelSchema } from "../tools/parameters.ts";
import * as message from "./message.ts";
import * as providerToolCall from "./provider-tool-call.ts";
import * as structuredOutput from "./structured-output.ts";
import { extractToolCalls } from "./text-tool-calls.ts";

export type ProviderTurnRequest = {
  readonly messages: readonly message.Message[];
  /** By canonical name; the parameters are what the model may fill in. */
  readonly tool_declarations: ToolMap;
  readonly model: JsonMap;
  readonly runtime: JsonMap;
  readonly context: JsonMap;
  readonly budgets: JsonMap;
  readonly run_id: string;
  readonly session_id: string;
  readonly metadata: JsonMap;
  readonly structured_output?: structuredOutput.StructuredOutputRequest;
};

/** What a request is made of; each part is normalised, an absent one is empty. */
export type ProviderTurnInput = { readonly [Part in keyof ProviderTurnRequest]?: unknown };

/** What a provider reports in its own shape, which may be a list. */
type Container = JsonMap | readonly Json[];

type ProviderTurnFailure = JsonMap & { readonly type: string; readonly message: string };

export type ProviderTurnResult = {
  readonly content: string;
  readonly message: message.Message | null;
  readonly continuation_messages: readonly message.Message[];
  readonly tool_calls: readonly providerToolCall.ProviderToolCall[];
  readonly usage: Container;
  readonly request_metadata: Container;
  readonly provider_diagnostics: Container;
  readonly failure?: ProviderTurnFailure;
  readonly structured_output?: { readonly parsed: Json; readonly diagnostics?: Container };
};

/**
 * The request of one turn, frozen. Tool declarations are prepared once for a frozen map, since a run offers the same
 * ones every turn. Throws `invalid_agent_provider_turn_request` at `tool_declarations.<key>`, or the code of the part.
 */
export function request(input: ProviderTurnInput): ProviderTurnRequest {
  const output = input.structured_output;
  return Object.freeze({
    messages: message.normalizeMany(input.messages ?? []),
    tool_declarations: offeredTools(input.tool_declarations),
    model: snapshotMap(input.model),
    runtime: snapshotMap(input.runtime),
    context: snapshotMap(input.context),
    budgets: snapshotMap(input.budgets),
    run_id: nonEmptyString(input.run_id) ?? "",
    session_id: nonEmptyString(input.session_id) ?? "",
    metadata: snapshotMap(input.metadata),
    ...(output == null ? {} : { structured_output: structuredOutput.request(output) }),
  });
}

/**
 * An adapter's answer, frozen. When it says nothing about tool calls they are looked for in its text. Throws
 * `invalid_agent_provider_turn_result` with the field, or the message's own code.
 */
export function result(value: unknown): ProviderTurnResult {
  if (!isContainer(value)) throw invalidResult("result must be a map");
  const answer = value as UnknownMap;
  const { failure, structured_output: output } = answer;
  // Read in the order of the contract: of two mistakes the first is told.
  return Object.freeze({
    content: nonEmptyString(answer.content) ?? "",
    usage: container(answer.usage, "usage"),
    request_metadata: container(answer.request_metadata, "request_metadata"),
    provider_diagnostics: container(answer.provider_diagnostics, "provider_diagnostics"),
    message: ownMessage(answer.message),
    tool_calls:
      answer.tool_calls == null ? extractToolCalls(answer) : providerToolCall.normalizeMany(answer.tool_calls),
    continuation_messages: continuation(answer.continuation_messages),
    ...(failure == null ? {} : { failure: failureOf(failure) }),
    ...(output == null ? {} : { structured_output: parsedOutput(output) }),
  });
}

const noTools: ToolMap = seal({});
const offered = new WeakMap<object, ToolMap>();

function offeredTools(declarations: unknown): ToolMap {
  if (declarations == null) return noTools;
  if (!isContainer(declarations)) throw invalidRequest("tool_declarations must be a map");
  const known = offered.get(declarations);
  if (known !== undefined) return known;
  const tools: Record<string, ToolDeclaration> = {};
  for (const [key, declaration] of Object.entries<unknown>(declarations)) {
    const tool = offeredTool(Array.isArray(declarations) ? undefined : key, key, declaration);
    tools[tool.name] = tool;
  }
  seal(tools);
  // A map that can still change must be read anew each time.
  if (Object.isFrozen(declarations)) offered.set(declarations, tools);
  offered.set(tools, tools);
  return tools;
}

function offeredTool(defaultName: string | undefined, key: string, value: unknown): ToolDeclaration {
  const declaration = asMap(value);
  if (declaration === undefined) throw invalidRequest(`tool_declarations.${key} must be a map`);
  const named =
    declaration.name == null && defaultName !== undefined ? { ...declaration, name: defaultName } : declaration;
  try {
    const normalized = normalizeForConversationRequest(named);
    return snapshot({ ...normalized, parameters: modelSchema(normalized) }) as ToolDeclaration;
  } catch (thrown) {
    const why = thrown instanceof HoldfastError ? thrown.detail : "cannot be read";
    throw invalidRequest(`tool_declarations.${key} is not valid: ${why}`, thrown);
  }
}

function ownMessage(value: unknown): message.Message | null {
  if (value == null) return null;
  if (!isContainer(value)) throw invalidResult("message must be a map");
  return message.normalize(value);
}

const noMessages: readonly message.Message[] = Object.freeze([]);

function continuation(value: unknown): readonly message.Message[] {
  if (value == null) return noMessages;
  if (!isContainer(value)) throw invalidResult("continuation_messages must be a list");
  return message.normalizeMany(value);
}

function container(value: unknown, field: string): Container {
  const copied = snapshot(value ?? emptyMap);
  if (!isContainer(copied)) throw invalidResult(`${field} must be a map or a list`);
  return copied;
}

function failureOf(value: unknown): ProviderTurnFailure {
  if (!isContainer(value)) throw invalidResult("failure must be a map");
  const failure = snapshotMap(value);
  for (const field of ["type", "message"]) {
    if (nonEmptyString(failure[field]) === undefined)
      throw invalidResult(`failure.${field} must be a non-empty string`);
  }
  return failure as ProviderTurnFailure;
}

function parsedOutput(value: unknown): { parsed: Json; diagnostics?: Container } {
  if (!isMap(value) || value.parsed === undefined) throw invalidResult("structured_output must have a parsed value");
  const { parsed, diagnostics } = value;
  if (diagnostics == null) return seal({ parsed: snapshot(parsed) });
  return seal({ parsed: snapshot(parsed), diagnostics: container(diagnostics, "structured_output.diagnostics") });
}

function invalidRequest(detail: string, cause?: unknown) {
  return holdfastError("invalid_agent_provider_turn_request", detail, cause);
}

function invalidResult(detail: string) {
  return holdfastError("invalid_agent_provider_turn_result", detail);
}
