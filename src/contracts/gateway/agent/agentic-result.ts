// What came of a requested tool: how it is read off an event, and whether it is the result that a run waits for.
import { nonBlank } from "../../coerce.ts";
import type { Json, JsonMap } from "../../json.ts";
import { jsonEqual } from "../json-equal.ts";
import { isControlKey } from "../pipelines/context.ts";
import { type RequestRefusal, requestRefusals } from "./agentic-event.ts";
import { type RunLimits, type RunningRun, readRun, storedRuns, storedStatus } from "./agentic-run.ts";
import { readCorrelation } from "./correlation.ts";

export type ToolResult = {
  readonly run_id: string;
  readonly step: number;
  readonly tool: string;
  /** Which request of the step it answers; absent when nothing says so. */
  readonly attempt?: number;
  /** `ok`; anything else is an error. */
  readonly status: string;
  readonly result: Json;
  readonly error: string | null;
  /** Another request of the same step would fail in the same way. */
  readonly permanent: boolean;
  /** The gateway itself has answered, because the request or the answer to it could not be queued. */
  readonly refusal?: RequestRefusal;
};

/**
 * The result in the payload of an `agentic.tool_result`; undefined when it lacks what every result has. A missing attempt
 * is that of the context, if the context belongs to the same step.
 */
export function readTypedResult(payload: JsonMap, context: JsonMap = {}): ToolResult | undefined {
  const correlation = readCorrelation(payload);
  const status = nonBlank(payload.status);
  if (!correlation || status === undefined) return undefined;
  const { run_id, step, tool } = correlation;
  const isOfContext = context.run_id === run_id && context.step === step;
  const attempt = readAttempt(payload) ?? (isOfContext ? readAttempt(context) : undefined);
  return {
    ...{ run_id, step, tool, status },
    ...(attempt !== undefined && { attempt }),
    result: payload.result ?? null,
    error: errorText(payload.error),
    permanent: payload.permanent === true,
    ...readRefusal(payload),
  };
}

function readRefusal({ permanent, reason }: JsonMap): Pick<ToolResult, "refusal"> {
  const refusal = requestRefusals.find((each) => each === reason);
  return permanent === true && refusal ? { refusal } : {};
}

/** Errors are texts; tools of other makers send maps too, whose message must not be lost. */
function errorText(value: Json | undefined): string | null {
  if (value === undefined || value === null || typeof value === "string") return nonBlank(value) ?? null;
  return JSON.stringify(value);
}

/**
 * What any other event means inside the pipeline of a tool request: the tool has succeeded, and the payload is its
 * result. Undefined outside of such a pipeline.
 */
export function synthesizedResult(payload: JsonMap, context: JsonMap = {}): ToolResult | undefined {
  const correlation = readCorrelation(context);
  if (!correlation) return undefined;
  const { run_id, step, tool } = correlation;
  const attempt = readAttempt(context);
  return {
    ...{ run_id, step, tool, status: "ok" },
    ...(attempt !== undefined && { attempt }),
    result: withoutMerged(payload, context),
    error: null,
    permanent: false,
  };
}

const carriedKeys: readonly string[] = ["run_id", "step", "tool", "tool_command", "attempt", "agent"];

/** The payload as the tool emitted it: the keys that were copied into it from the context are taken out again. */
function withoutMerged(payload: JsonMap, context: JsonMap): JsonMap {
  const isMerged = (key: string, value: Json) => {
    const isCarried = carriedKeys.includes(key) || isControlKey(key);
    return isCarried && Object.hasOwn(context, key) && jsonEqual(value, context[key] ?? null);
  };
  return Object.fromEntries(Object.entries(payload).filter(([key, value]) => !isMerged(key, value)));
}

// Not that of a correlation, which is 1 where nothing was said: such a result would be taken for a late one.
function readAttempt({ attempt }: JsonMap): number | undefined {
  return typeof attempt === "number" && Number.isSafeInteger(attempt) && attempt >= 1 ? attempt : undefined;
}

/** What a result means for the runs that there are. */
export type Verdict =
  /** There is no such run. */
  | { readonly kind: "unknown" }
  /** The run waits for nothing any more; one whose status only another agent knows is left to that agent. */
  | { readonly kind: "ended"; readonly status: string }
  /** The step is over. */
  | { readonly kind: "stale"; readonly run: RunningRun }
  /** The late answer to a request that has been repeated since. */
  | { readonly kind: "late"; readonly run: RunningRun }
  | { readonly kind: "step_ahead" | "wrong_tool" | "matched"; readonly run: RunningRun };

/** Compares a result with what is pending. The order of the checks is part of the contract. */
export function judgeResult(state: JsonMap, result: ToolResult, limits?: RunLimits): Verdict {
  const runs = storedRuns(state);
  const stored = Object.hasOwn(runs, result.run_id) ? runs[result.run_id] : undefined;
  const status = storedStatus(stored);
  if (status === undefined) return { kind: "unknown" };
  const run = readRun(stored, limits);
  if (run?.status !== "running") return { kind: "ended", status };
  if (result.step < run.pending_step || run.completed_steps.includes(result.step)) return { kind: "stale", run };
  if (result.step > run.pending_step) return { kind: "step_ahead", run };
  if (result.attempt !== undefined && result.attempt < run.attempt) return { kind: "late", run };
  return { kind: result.tool === run.pending_tool ? "matched" : "wrong_tool", run };
}
