// What a conversation returns and what is kept of it: the envelope that replay, grading and stores read.
import { HoldfastError, holdfastError } from "../error.ts";
import { asMap, isContainer, isEmpty, isMap, type Json, type JsonMap, snapshot, type UnknownMap } from "../json.ts";
import * as message from "./message.ts";
import * as runOutcome from "./run-outcome.ts";
import * as toolObservability from "./tool-observability.ts";

export const RESULT_SCHEMA = "agents-api.conversation-result";
export const RESULT_VERSION = 1;

/** One tool call that ran. Its parameters are raw: they are the caller's own data. */
type ToolExecutionResult = JsonMap & {
  readonly tool_name: string;
  readonly result: JsonMap | readonly Json[];
  readonly parameters: JsonMap | readonly Json[];
  readonly turn_count: number;
};

/** One entry of the replay trace that holds hashes where the raw values would be. */
type ToolAuditEvent = JsonMap & {
  readonly type: string;
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly parameters_sha256: string;
  readonly result_sha256: string;
  readonly schema_version: number;
  readonly turn_count: number;
  readonly success: boolean;
};

/** A tool was called, answered or is waited for. */
type ToolEvent = JsonMap & {
  readonly type: string;
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly turn_count: number;
};

/** Something that happened in a run, kept with its result. */
type LoopEvent = JsonMap & { readonly type: string; readonly metadata: JsonMap };

/** A result of version 1. Fields it does not know are kept. */
export type ConversationResult = {
  readonly schema: typeof RESULT_SCHEMA;
  readonly version: typeof RESULT_VERSION;
  readonly messages: readonly message.Message[];
  readonly tool_execution_results: readonly ToolExecutionResult[];
  readonly tool_audit_events: readonly ToolAuditEvent[];
  readonly tool_events: readonly ToolEvent[];
  readonly tool_observability: JsonMap;
  readonly run_outcome: runOutcome.RunOutcome;
  /** Why the run stopped before it was complete. */
  readonly status?: string;
  readonly budget?: string;
  readonly final_content?: string;
  readonly turn_count?: number;
  readonly completed?: boolean;
  readonly usage?: JsonMap;
  readonly metadata?: JsonMap;
  readonly request_metadata?: JsonMap;
  readonly structured_output?: Json;
  /** What happened on the way and is worth keeping. */
  readonly events?: readonly LoopEvent[];
  readonly failure?: JsonMap & { readonly type: string; readonly message: string };
  readonly stalled?: JsonMap;
  readonly interrupted?: JsonMap;
  readonly approval_required?: JsonMap;
  readonly runtime_tool_pending?: JsonMap;
  readonly [field: string]: Json | undefined;
};

type Check = { readonly is: (value: unknown) => boolean; readonly must: string };

const text: Check = { is: (value) => typeof value === "string", must: "must be a string" };
const name: Check = { is: (value) => typeof value === "string" && value !== "", must: "must be a non-empty string" };
const int: Check = { is: Number.isInteger, must: "must be an integer" };
const bool: Check = { is: (value) => typeof value === "boolean", must: "must be a boolean" };
const container: Check = { is: isContainer, must: "must be a map or a list" };

type Fields = readonly (readonly [field: string, check: Check])[];
type FieldRules = { readonly required: Fields; readonly optional: Fields };

const executionResult: FieldRules = {
  required: [
    ["tool_name", name],
    ["result", container],
    ["parameters", container],
    ["turn_count", int],
  ],
  optional: [
    ["is_handler_tool", bool],
    ["runtime", container],
  ],
};

const auditEvent: FieldRules = {
  required: [
    ["type", name],
    ["tool_name", name],
    ["tool_call_id", name],
    ["parameters_sha256", name],
    ["result_sha256", name],
    ["schema_version", int],
    ["turn_count", int],
    ["success", bool],
  ],
  optional: [["error_type", text]],
};

const toolEvent: FieldRules = {
  required: [
    ["type", name],
    ["tool_name", name],
    ["tool_call_id", name],
    ["turn_count", int],
  ],
  optional: [
    ["status", text],
    ["metadata", container],
  ],
};

const result: FieldRules = {
  required: [],
  optional: [
    ["status", text],
    ["budget", text],
    ["final_content", text],
    ["turn_count", int],
    ["usage", container],
    ["metadata", container],
    ["request_metadata", container],
    ["provider_diagnostics", container],
    ["structured_output_diagnostics", container],
    ["completed", bool],
  ],
};

const failure: FieldRules = {
  required: [
    ["type", name],
    ["message", name],
  ],
  optional: [["turn_count", int]],
};

const pending: FieldRules = { required: [], optional: [["runtime_tool_pending", container]] };

/**
 * A frozen, complete result: defaults filled in, unknown fields kept, `tool_observability` and `run_outcome` computed.
 * The first field that is wrong, in the order of the contract, throws `invalid_agent_conversation_result`.
 */
export function normalize(value: unknown): ConversationResult {
  const fields = asMap(value);
  if (fields === undefined) throw invalid("result must be a map");
  const { messages: given, ...others } = fields;
  const kept = snapshotOf(others);
  if ((kept.schema ?? RESULT_SCHEMA) !== RESULT_SCHEMA) throw invalid(`schema must be ${RESULT_SCHEMA}`);
  if ((kept.version ?? RESULT_VERSION) !== RESULT_VERSION) throw invalid(`version must be ${RESULT_VERSION}`);
  const messages = normalizeMessages(given);
  const executionResults = listOf(kept, "tool_execution_results");
  const auditEvents = listOf(kept, "tool_audit_events");
  const toolEvents = listOf(kept, "tool_events");
  checkEntries("tool_execution_results", executionResults, executionResult);
  checkEntries("tool_audit_events", auditEvents, auditEvent);
  checkEntries("tool_events", toolEvents, toolEvent);
  checkFields(kept, result);
  checkFailure(kept.failure);
  checkFields(kept, pending);
  return Object.freeze({
    ...kept,
    schema: RESULT_SCHEMA,
    version: RESULT_VERSION,
    messages,
    tool_execution_results: executionResults,
    tool_audit_events: auditEvents as readonly ToolAuditEvent[],
    tool_events: toolEvents as readonly ToolEvent[],
    tool_observability: toolObservability.observe(toolEvents, executionResults),
    run_outcome: runOutcome.normalize(kept.run_outcome, kept),
  }) as ConversationResult;
}

/** What the assistant said last, tool calls aside; empty when it said nothing. */
export function finalContent(messages: readonly message.Message[]): string {
  const last = messages.findLast(
    ({ role, type, content }) =>
      role === "assistant" && type !== "tool_call" && typeof content === "string" && content !== "",
  );
  return typeof last?.content === "string" ? last.content : "";
}

function snapshotOf(fields: UnknownMap): JsonMap {
  let copied: Json;
  try {
    copied = snapshot(fields);
  } catch (thrown) {
    throw invalid("result cannot be written as JSON", thrown);
  }
  // A `toJSON` of its own may have made something else of it.
  if (!isMap(copied)) throw invalid("result must be a map");
  return copied;
}

function normalizeMessages(given: unknown): readonly message.Message[] {
  try {
    return message.normalizeMany(given);
  } catch (thrown) {
    throw invalid(thrown instanceof HoldfastError ? thrown.detail : "messages cannot be read", thrown);
  }
}

const noEntries: readonly JsonMap[] = Object.freeze([]);

function listOf(kept: JsonMap, field: string): readonly JsonMap[] {
  const list = kept[field];
  if (list == null) return noEntries;
  if (Array.isArray(list)) return list;
  if (isMap(list) && isEmpty(list)) return noEntries;
  throw invalid(`${field} must be a list`);
}

function checkEntries(list: string, entries: readonly JsonMap[], rules: FieldRules): void {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    // An entry that is a list passes for a map without fields, so that the error names the field it lacks.
    if (!isContainer(entry)) throw invalid(`${list}[${index}] must be a map`);
    const wrong = firstWrong(entry, rules);
    if (wrong !== undefined) throw invalid(`${list}[${index}].${wrong}`);
  }
}

function checkFields(fields: UnknownMap, rules: FieldRules, path = ""): void {
  const wrong = firstWrong(fields, rules);
  if (wrong !== undefined) throw invalid(path + wrong);
}

function checkFailure(value: Json | undefined): void {
  if (value === undefined) return;
  if (!isContainer(value)) throw invalid("failure must be a map");
  checkFields(value as UnknownMap, failure, "failure.");
}

function firstWrong(entry: UnknownMap, { required, optional }: FieldRules): string | undefined {
  for (const [field, check] of required) if (!check.is(entry[field])) return `${field} ${check.must}`;
  for (const [field, check] of optional) {
    // An explicit null is present, and wrong.
    if (entry[field] !== undefined && !check.is(entry[field])) return `${field} ${check.must}`;
  }
  return undefined;
}

function invalid(detail: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_agent_conversation_result", detail, cause);
}
