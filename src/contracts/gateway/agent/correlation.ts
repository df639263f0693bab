// The keys that lead a tool's result back to the step of an agent run that asked for it.
import type { Json, JsonMap } from "../../json.ts";

export const AGENTIC_START = "agentic.start";
export const TOOL_RESULT = "agentic.tool_result";
export const AGENT_COMPLETED = "agent.completed";
export const AGENT_ESCALATED = "agent.escalated";

const TOOL_REQUEST_PREFIX = "agentic.tool_request.";

/** Keys of a tool request that a tool's own payload cannot set. */
const reservedRequestKeys: readonly string[] = [
  ...["run_id", "step", "tool", "tool_command", "tool_payload", "requested_at", "attempt"],
];

/** A step of a run as its context names it. */
export type Correlation = {
  readonly run_id: string;
  readonly step: number;
  readonly tool: string;
  readonly tool_command?: string;
  /** From 1: how often the step has been requested. */
  readonly attempt: number;
  /** The plugin that asked; absent where a context was claimed without it. */
  readonly agent?: string;
};

/** The type of a tool request; its suffix selects the pipeline. */
export function toolRequestType(suffix: string): string {
  return `${TOOL_REQUEST_PREFIX}${suffix}`;
}

/** The suffix of a tool request's type; undefined for any other type. */
export function toolRequestSuffix(type: string): string | undefined {
  if (!type.startsWith(TOOL_REQUEST_PREFIX)) return undefined;
  return type.slice(TOOL_REQUEST_PREFIX.length) || undefined;
}

/** The correlation that a payload or a context holds; undefined when `run_id`, `step` or `tool` is missing. */
export function readCorrelation(map: JsonMap | undefined): Correlation | undefined {
  if (map === undefined) return undefined;
  const [runId, step, tool] = [read(map, "run_id"), read(map, "step"), read(map, "tool")];
  if (!isName(runId) || !isCount(step) || !isName(tool)) return undefined;
  const [command, attempt, agent] = [read(map, "tool_command"), read(map, "attempt"), read(map, "agent")];
  return {
    run_id: runId,
    step,
    tool,
    ...(isName(command) && { tool_command: command }),
    attempt: isCount(attempt) ? attempt : 1,
    ...(isName(agent) && { agent }),
  };
}

/** What starting a pipeline with an event claims by itself. */
export type AutoClaim =
  /** Not a tool request. */
  | { readonly kind: "none" }
  | { readonly kind: "claimed"; readonly claims: JsonMap }
  /** A tool request that cannot be correlated: nothing is claimed, and a warning is due. */
  | { readonly kind: "incomplete"; readonly missing: readonly string[] };

/** The claims of a tool request; `emittedBy` is the plugin whose job emitted the event, whatever the event says. */
export function autoClaim(event: { readonly type: string; readonly payload: JsonMap }, emittedBy: string): AutoClaim {
  if (toolRequestSuffix(event.type) === undefined) return { kind: "none" };
  const correlation = readCorrelation(event.payload);
  if (correlation !== undefined) return { kind: "claimed", claims: { ...correlation, agent: emittedBy } };
  const { payload } = event;
  const missing = [
    ...(isName(read(payload, "run_id")) ? [] : ["run_id"]),
    ...(isCount(read(payload, "step")) ? [] : ["step"]),
    ...(isName(read(payload, "tool")) ? [] : ["tool"]),
  ];
  return { kind: "incomplete", missing };
}

/** The payload without the reserved keys: what may stand beside them, and in `tool_payload`. */
export function withoutReservedKeys(payload: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(payload).filter(([key]) => !reservedRequestKeys.includes(key)));
}

type StepAttempt = { readonly run_id: string; readonly step: number; readonly attempt: number };

export function requestKey(step: StepAttempt): string {
  return `${stepKey(step)}:request${attemptSuffix(step.attempt)}`;
}

export function resultKey(step: StepAttempt): string {
  return `${stepKey(step)}:result${attemptSuffix(step.attempt)}`;
}

export function completedKey(runId: string): string {
  return `agentic:run:${runId}:completed`;
}

export function escalatedKey(runId: string): string {
  return `agentic:run:${runId}:escalated`;
}

/**
 * The dedupe key of an event that a tool emitted. The result of a later attempt under the key of the first one would be
 * taken for the first one's, so the attempt of the context is appended to it.
 */
export function resultDedupeKey(
  event: { readonly type: string; readonly dedupe_key?: string },
  context: JsonMap | undefined,
): string | undefined {
  const { dedupe_key: key } = event;
  const correlation = readCorrelation(context);
  if (key === undefined || event.type !== TOOL_RESULT || correlation === undefined) return key;
  return key.trim() === resultKey({ ...correlation, attempt: 1 }) ? resultKey(correlation) : key;
}

function stepKey({ run_id, step }: StepAttempt): string {
  return `agentic:run:${run_id}:step:${step}`;
}

function attemptSuffix(attempt: number): string {
  return attempt > 1 ? `:attempt:${attempt}` : "";
}

function read(map: JsonMap, key: string): Json | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function isName(value: Json | undefined): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
}
