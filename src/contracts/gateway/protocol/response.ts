// What a plugin answers (protocol v2), and what one finished execution came to.
import { asMap, isMap, type Json, type JsonMap, type UnknownMap } from "../../json.ts";
import type { EmittedEvent } from "./event.ts";
import { isTooDeep, MAX_JSON_LEVELS, storableJson } from "./storable-json.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogEntry = { readonly level: LogLevel; readonly message: string };

export type OkResponse = {
  readonly status: "ok";
  readonly result: string;
  readonly events: readonly EmittedEvent[];
  /** Absent when the plugin sent none: an empty map of a mirrored fact replaces the state. */
  readonly state_updates?: JsonMap;
  readonly logs: readonly LogEntry[];
};

export type ErrorResponse = {
  readonly status: "error";
  readonly error: string;
  /** False when trying again would not help. */
  readonly retry: boolean;
  readonly logs: readonly LogEntry[];
};

export type PluginResponse = OkResponse | ErrorResponse;

/** Why an attempt did not succeed. */
export type FailureReason =
  | "nonzero_exit"
  | "plugin_error"
  | "plugin_retry_false"
  | "exit_code_78"
  | "spawn_error"
  | "timeout"
  | "preflight"
  | "apply_failed"
  | "cancelled";

/** What a process that ended came to. */
export type DecodedResponse =
  | { readonly outcome: "succeeded"; readonly response: OkResponse; readonly warnings: readonly string[] }
  | {
      readonly outcome: "failed";
      readonly reason: Extract<
        FailureReason,
        "nonzero_exit" | "plugin_error" | "plugin_retry_false" | "exit_code_78" | "spawn_error"
      >;
      readonly retryable: boolean;
      readonly error: string;
      readonly logs: readonly LogEntry[];
    };

export type DecodeOptions = {
  readonly strict_protocol?: boolean;
  /**
   * `strict` (default): a non-zero exit is a failure whatever was answered; `envelope`: the answer decides, except for 78,
   * which is a failure for good under both.
   */
  readonly exit_code_policy?: "strict" | "envelope";
};

export type FinishedProcess = {
  /** Everything that it wrote to stdout. */
  readonly stdout: string | Uint8Array;
  /** Null when a signal ended it: that counts as a non-zero exit. */
  readonly exitCode: number | null;
  readonly options?: DecodeOptions;
};

/** The exit code that says, whatever was answered: trying again will not help. */
const PERMANENT_EXIT_CODE = 78;
const MAX_LOG_ENTRIES = 200;
export const MAX_LOG_MESSAGE_BYTES = 8 * 1024;

/** Classifies a finished process by its stdout and exit code. Never throws. */
export function decodeResponse({ stdout, exitCode, options = {} }: FinishedProcess): DecodedResponse {
  const answer = readAnswer(stdout, options.strict_protocol === true);
  const decoded = judge(answer, exitCode, options);
  if (decoded.outcome === "succeeded" || exitCode !== PERMANENT_EXIT_CODE) return decoded;
  return { ...decoded, reason: "exit_code_78", retryable: false };
}

/** The text of stdout; undefined when its bytes are no UTF-8. A byte order mark stays, and is no JSON. */
export function decodeStdout(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

type Answer =
  | { readonly response: PluginResponse; readonly warnings: readonly string[] }
  | { readonly problem: string };

function judge(answer: Answer, exitCode: number | null, { exit_code_policy }: DecodeOptions): DecodedResponse {
  if ("problem" in answer) {
    const exit = exitCode === 0 ? "" : ` ${exited(exitCode)}`;
    return failed("spawn_error", true, `${answer.problem}${exit}`, []);
  }
  const { response, warnings } = answer;
  if (response.status === "error") {
    const { error, retry, logs } = response;
    return failed(retry ? "plugin_error" : "plugin_retry_false", retry, error, logs);
  }
  if (exitCode === 0) return { outcome: "succeeded", response, warnings };
  // The policy is about exit codes that may mean anything; this one is part of the protocol.
  if (exit_code_policy === "envelope" && exitCode !== PERMANENT_EXIT_CODE) {
    return { outcome: "succeeded", response, warnings: [...warnings, exited(exitCode)] };
  }
  return failed("nonzero_exit", true, `${exited(exitCode)} Its answer was discarded.`, response.logs);
}

function failed(
  reason: Extract<DecodedResponse, { outcome: "failed" }>["reason"],
  retryable: boolean,
  error: string,
  logs: readonly LogEntry[],
): DecodedResponse {
  return { outcome: "failed", reason, retryable, error, logs };
}

function exited(exitCode: number | null): string {
  return exitCode === null ? "The plugin was ended by a signal." : `The plugin exited with code ${exitCode}.`;
}

function readAnswer(stdout: string | Uint8Array, strict: boolean): Answer {
  const text = typeof stdout === "string" ? stdout : decodeStdout(stdout);
  if (text === undefined) return { problem: "The plugin's stdout is not UTF-8." };
  if (text.trim() === "") return { problem: "The plugin wrote nothing to stdout." };
  if (isTooDeep(text)) return { problem: `The plugin's answer is nested deeper than ${MAX_JSON_LEVELS} levels.` };
  const envelope = parseObject(text);
  if (envelope === undefined) return { problem: "The plugin's stdout is not one JSON object." };
  switch (envelope.status) {
    case "ok":
      return readOk(envelope, strict);
    case "error":
      return readError(envelope, strict);
    default:
      return { problem: 'The status of the plugin\'s answer is neither "ok" nor "error".' };
  }
}

function parseObject(text: string): UnknownMap | undefined {
  try {
    const value = storableJson(JSON.parse(text));
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readOk(envelope: UnknownMap, strict: boolean): Answer {
  const result = readResult(envelope.result, strict);
  if ("problem" in result) return result;
  const events = readEvents(envelope.events);
  if ("problem" in events) return events;
  const { state_updates: updates } = envelope;
  // Some languages write an empty map as []. It counts as absent: as a map it would empty a mirrored state.
  const isNone = isAbsent(updates) || (!strict && Array.isArray(updates) && updates.length === 0);
  if (!isNone && !isMap(updates)) return wrong("state_updates", "a JSON object");
  const logs = readLogs(envelope.logs, strict);
  if ("problem" in logs) return logs;
  return {
    response: {
      status: "ok",
      result: result.text,
      events: events.events,
      ...(isMap(updates) && { state_updates: updates as JsonMap }),
      logs: logs.logs,
    },
    warnings: [...result.warnings, ...logs.warnings],
  };
}

// Events and state updates of an error are ignored whatever they are.
function readError(envelope: UnknownMap, strict: boolean): Answer {
  const { error, retry } = envelope;
  if (typeof error !== "string" || error === "") return wrong("error", "text that is not empty");
  if (!isAbsent(retry) && typeof retry !== "boolean") return wrong("retry", "true or false");
  if (strict && !isAbsent(envelope.result) && typeof envelope.result !== "string") return wrong("result", "text");
  const logs = readLogs(envelope.logs, strict);
  if ("problem" in logs) return logs;
  return { response: { status: "error", error, retry: retry !== false, logs: logs.logs }, warnings: logs.warnings };
}

type Problem = { readonly problem: string };

function readResult(
  value: unknown,
  strict: boolean,
): { readonly text: string; readonly warnings: readonly string[] } | Problem {
  if (isAbsent(value) || (typeof value === "string" && value.trim() === "")) {
    if (strict) return wrong("result", "text that is not blank");
    return { text: "ok", warnings: ["The plugin's answer has no result."] };
  }
  if (typeof value === "string") return { text: value, warnings: [] };
  if (strict) return wrong("result", "text");
  return { text: JSON.stringify(value), warnings: ["The result of the plugin's answer is not text."] };
}

function readEvents(value: unknown): { readonly events: readonly EmittedEvent[] } | Problem {
  if (isAbsent(value)) return { events: [] };
  if (!Array.isArray(value)) return wrong("events", "a list");
  const events: EmittedEvent[] = [];
  for (const [index, each] of value.entries()) {
    const event = readEvent(each, `events[${index}]`);
    if ("problem" in event) return event;
    events.push(event);
  }
  return { events };
}

function readEvent(value: unknown, place: string): EmittedEvent | Problem {
  if (!isMap(value)) return wrong(place, "a JSON object");
  const { type } = value;
  if (typeof type !== "string" || type.trim() === "") return wrong(`${place}.type`, "text that is not blank");
  const payload = isAbsent(value.payload) ? {} : asMap(value.payload);
  if (payload === undefined) return wrong(`${place}.payload`, "a JSON object");
  const fields = ["dedupe_key", "source", "timestamp", "event_id"] as const;
  const odd = fields.find((field) => !isAbsent(value[field]) && typeof value[field] !== "string");
  if (odd !== undefined) return wrong(`${place}.${odd}`, "text");
  const extras = Object.fromEntries(
    fields.filter((field) => !isAbsent(value[field])).map((field) => [field, value[field]]),
  );
  return { type: type.trim(), payload: payload as JsonMap, ...extras };
}

const levels: Readonly<Record<string, LogLevel>> = {
  ...{ debug: "debug", trace: "debug", info: "info" },
  ...{ warn: "warn", warning: "warn", error: "error", fatal: "error", critical: "error" },
};

function readLogs(
  value: unknown,
  strict: boolean,
): { readonly logs: readonly LogEntry[]; readonly warnings: readonly string[] } | Problem {
  if (isAbsent(value)) return { logs: [], warnings: [] };
  if (!Array.isArray(value)) return wrong("logs", "a list");
  const odd = value.findIndex((entry) => !isMap(entry) || typeof entry.message !== "string");
  if (strict && odd !== -1) return wrong(`logs[${odd}]`, "{ level, message }");
  const warnings = [
    ...(odd === -1 ? [] : [`logs[${odd}] of the plugin's answer is not { level, message }.`]),
    ...(value.length > MAX_LOG_ENTRIES ? [`${value.length - MAX_LOG_ENTRIES} further log entries were dropped.`] : []),
  ];
  return { logs: value.slice(0, MAX_LOG_ENTRIES).map(readLog), warnings };
}

function readLog(entry: Json): LogEntry {
  const map: UnknownMap = isMap(entry) ? entry : { message: entry };
  const { level, message } = map;
  const name = typeof level === "string" ? level.trim().toLowerCase() : "";
  const text = typeof message === "string" ? message : (JSON.stringify(message ?? entry) ?? "");
  return { level: (Object.hasOwn(levels, name) ? levels[name] : undefined) ?? "info", message: clip(text) };
}

/** The beginning of a text, up to a number of bytes in UTF-8, with no character cut in half. */
function clip(text: string): string {
  if (text.length * 3 <= MAX_LOG_MESSAGE_BYTES) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_LOG_MESSAGE_BYTES) return text;
  let end = MAX_LOG_MESSAGE_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}

// For plugins null and absent are the same.
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function wrong(field: string, expected: string): Problem {
  return { problem: `The plugin's answer is malformed: ${field} is not ${expected}.` };
}
