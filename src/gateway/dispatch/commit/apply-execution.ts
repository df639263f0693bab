// Everything with which an execution takes effect, decided before anything is written: what becomes of the job, its
// plugin's new state, the jobs it leads to, and what the event stream says. Pure: clock and random draw are passed in.
import { HoldfastError } from "../../../contracts/error.ts";
import { AGENT_COMPLETED, AGENT_ESCALATED } from "../../../contracts/gateway/agent/correlation.ts";
import { SWITCH_PLUGIN } from "../../../contracts/gateway/job.ts";
import { completeEvent, type GatewayEvent } from "../../../contracts/gateway/protocol/event.ts";
import { mergeState, replaceState } from "../../../contracts/gateway/protocol/plugin-state.ts";
import type { OkResponse } from "../../../contracts/gateway/protocol/response.ts";
import { isMap, type JsonMap } from "../../../contracts/json.ts";
import { emittedEvents } from "../../pipelines/emitted-events.ts";
import { runMark, runOfContext } from "../../pipelines/inside-run.ts";
import type { Refusal } from "../../pipelines/resolve.ts";
import { type Applied, type ExecutedJob, emitterOf, type Outcome } from "../execute/executed-job.ts";
import { type Failure, settleFailure } from "../execute/settle.ts";
import { agentEntries } from "./agent-entries.ts";
import { afterFailure, afterHook } from "./follow-ups.ts";
import type { StreamEvent } from "./new-child.ts";
import { joinRouted, type Routed, type RoutingTables, routeEvents } from "./route-events.ts";
import { endsRunOf, runGoingOn, runStartedInside } from "./run-going-on.ts";
import { answerRequest } from "./unanswered-requests.ts";

export type ApplyOptions = {
  readonly tables: RoutingTables;
  /** The plugin's state as it is stored now. */
  readonly state: JsonMap;
  /** ISO 8601, UTC. */
  readonly now: string;
  /** From 0 to 1. */
  readonly random: number;
  /** Children that are duplicates of jobs which have ended. */
  readonly answered?: ReadonlySet<string>;
  /** False where the tree has no room for what an agent requests. */
  readonly hasRoom?: boolean;
};

const none: ReadonlySet<string> = new Set();

/** A response that cannot be applied fails the job, and nothing of it takes effect. */
export function applyExecution(job: ExecutedJob, outcome: Outcome, options: ApplyOptions): Applied {
  if (outcome.kind === "failed") return applyFailure(job, outcome.failure, options);
  try {
    return applyResponse(job, outcome.response, options);
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    return applyFailure(job, refused(`${thrown.code}: ${thrown.detail}`), options);
  }
}

/** A failure while the response was applied: trying again would come to the same. */
export function refused(error: string): Failure {
  return { outcome: "failed", reason: "apply_failed", retryable: false, error };
}

function applyResponse(job: ExecutedJob, response: OkResponse, options: ApplyOptions): Applied {
  const { tables, now, answered = none, hasRoom = true } = options;
  const state = newState(job, response, options.state);
  const emitted = job.plugin === SWITCH_PLUGIN ? response.events : emittedEvents(response, job);
  const events = emitted.map((event, index) =>
    completeEvent(event, { source: job.plugin, timestamp: now, jobId: job.id, index }),
  );
  const after = state?.value ?? options.state;
  const run = runGoingOn(job, { events, after });
  const inside = runStartedInside(job, options.state, after);
  if (inside !== undefined) return applyRefusal(job, startedInside(job, inside), options);
  const routed = routeEvents(events, tables, {
    emitter: emitterOf(job, run),
    contextId: job.context_id,
    submittedBy: "route",
    control: (event) => ({
      ...(job.isAgent && workspaceOf(after, event.payload)),
      ...(!endsRunOf(job, event, after) && runMark(run)),
    }),
    ...(job.isAgent && {
      isExempt: endsRun,
      answer: (event: GatewayEvent, to: Routed) =>
        answerRequest(job, event, to, { tables, now, before: options.state, after, answered, hasRoom }),
    }),
  });
  if ("refusal" in routed) return applyRefusal(job, routed.refusal, options);
  const about = { signal: "job.completed", status: "succeeded", result: response.result, now, run } as const;
  const hook = afterHook(job, about, tables);
  const { children, contexts, stream, warnings } = joinRouted([routed, hook]);
  const agent = job.isAgent
    ? agentEntries({ agent: job.plugin, before: options.state, after, events: response.events })
    : [];
  const ended = job.plugin === SWITCH_PLUGIN ? [] : [describeEnd(job, "job.completed", {})];
  return {
    settlement: { status: "succeeded", reason: null, error: null },
    ...(state && { state }),
    ...{ children, contexts, warnings, stream: [...ended, ...agent, ...stream] },
  };
}

/** What cannot be routed fails the job, and nothing of it takes effect. */
function applyRefusal(job: ExecutedJob, refusal: Refusal, options: ApplyOptions): Applied {
  const { reason, pipeline, step_id, message } = refusal;
  const failed = applyFailure(job, refused(message), options);
  const entry = { type: `router.${reason}`, data: { job_id: job.id, pipeline, step_id } };
  return { ...failed, stream: [entry, ...failed.stream], warnings: [message, ...failed.warnings] };
}

function startedInside({ plugin, context, place }: ExecutedJob, runId: string): Refusal {
  const message = `The agent ${plugin} would start the run ${runId} from inside the run ${runOfContext(context)}.`;
  const { pipeline = null, step_id = null } = place ?? {};
  return { reason: "agent_inside_run", pipeline, step_id, message };
}

function applyFailure(job: ExecutedJob, failure: Failure, { tables, now, random }: ApplyOptions): Applied {
  const { attempt, max_attempts: maxAttempts, backoffBaseMs } = job;
  const settlement = settleFailure(failure, { attempt, maxAttempts, backoffBaseMs, random });
  const { reason } = failure;
  if (settlement.status === "queued") {
    const retry_after_ms = settlement.retryAfterMs;
    const entry = describeEnd(job, "job.retry_scheduled", {
      attempt,
      max_attempts: maxAttempts,
      reason,
      retry_after_ms,
    });
    return { settlement, children: [], contexts: [], warnings: [], stream: [entry] };
  }
  const followUps: Routed = afterFailure(job, { ...failure, status: settlement.status, now }, tables);
  const { children, contexts, stream, warnings } = followUps;
  const type = settlement.status === "timed_out" ? "job.timed_out" : "job.failed";
  const recovery = failure.reason === "attempts_exhausted" ? { recovery: true } : {};
  const exhausted = failure.retryable ? [describeEnd(job, "job.retry_exhausted", { attempt, reason })] : [];
  const ended = describeEnd(job, type, { status: settlement.status, reason, attempt, ...recovery });
  return { settlement, children, contexts, warnings, stream: [...exhausted, ended, ...stream] };
}

function newState(
  { command, factOutputs }: ExecutedJob,
  { state_updates }: OkResponse,
  before: JsonMap,
): Applied["state"] {
  // Diagnosis and set-up change no state.
  if (state_updates === undefined || command === "health" || command === "init") return undefined;
  const outputs = factOutputs.filter((each) => each.command === command);
  if (outputs.length === 0 && Object.keys(state_updates).length === 0) return undefined;
  const mirrors = outputs.some((each) => each.mirrors);
  return {
    value: mirrors ? replaceState(state_updates) : mergeState(before, state_updates),
    facts: outputs.map(({ fact_type }) => ({ fact_type, value: state_updates })),
  };
}

/** Where the jobs of a run find its files: carried along by every pipeline that an event about the run starts. */
function workspaceOf(state: JsonMap, { run_id }: JsonMap): JsonMap | undefined {
  const { runs } = state;
  if (!isMap(runs) || typeof run_id !== "string" || !Object.hasOwn(runs, run_id)) return undefined;
  const run = runs[run_id];
  const ref = isMap(run) ? run.workspace_ref : undefined;
  return typeof ref === "string" ? { workspace_ref: ref } : undefined;
}

/** A run has to end also in a tree that has no room left: it could not even be escalated otherwise. */
function endsRun({ type }: GatewayEvent): boolean {
  return type === AGENT_COMPLETED || type === AGENT_ESCALATED;
}

function describeEnd({ id, plugin, command, place }: ExecutedJob, type: string, more: JsonMap): StreamEvent {
  return {
    type,
    data: { job_id: id, plugin, command, pipeline: place?.pipeline ?? null, step_id: place?.step_id ?? null, ...more },
  };
}
