// Tool requests of an agent that lead to no job. A run waits for the answer to each of its requests, so none is dropped in
// silence: the start of a run fails, and a run that goes on gets an answer of the gateway in the place of the tool's.
import { requestRefusals } from "../../../contracts/gateway/agent/agentic-event.ts";
import { storedRuns } from "../../../contracts/gateway/agent/agentic-run.ts";
import {
  type Correlation,
  readCorrelation,
  TOOL_RESULT,
  toolRequestSuffix,
} from "../../../contracts/gateway/agent/correlation.ts";
import { completeEvent, type GatewayEvent } from "../../../contracts/gateway/protocol/event.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { Refusal } from "../../pipelines/resolve.ts";
import type { ExecutedJob } from "../execute/executed-job.ts";
import { bridgeJob, failedResult } from "./bridge.ts";
import { derivedId } from "./derived-id.ts";
import { nothingRouted, type Routed, type RoutingTables } from "./route-events.ts";

export type RequestRules = {
  readonly tables: RoutingTables;
  /** The state of the agent before its turn and after it. */
  readonly before: JsonMap;
  readonly after: JsonMap;
  /** ISO 8601, UTC. */
  readonly now: string;
  /** Children that are duplicates of jobs which have ended: nothing will come of them any more. */
  readonly answered: ReadonlySet<string>;
  /** False where the job tree has no room for what the turn requests. */
  readonly hasRoom: boolean;
};

/** What an event of an agent leads to: what it was routed to, unless it is a request that nothing would answer. */
export function answerRequest(
  job: ExecutedJob,
  event: GatewayEvent,
  routed: Routed,
  rules: RequestRules,
): Routed | { readonly refusal: Refusal } {
  const suffix = toolRequestSuffix(event.type);
  const reason = suffix === undefined ? undefined : whyUnanswered(routed, rules);
  if (suffix === undefined || reason === undefined) return routed;
  const message = sentence(reason, job.plugin, event, suffix);
  const correlation = readCorrelation(event.payload);
  if (!correlation) return { ...routed, warnings: [...routed.warnings, message] };
  const refusal = { reason, pipeline: null, step_id: null, message };
  // An agent that goes on asking for what nothing takes would be answered for ever.
  if (isStarted(correlation.run_id, rules) || isAnswerOfGateway(job)) return { refusal };
  const stream = [{ type: `router.${reason}`, data: { job_id: job.id, pipeline: null, step_id: null } }];
  return {
    ...nothingRouted,
    children: [bridgeTo(job, event, correlation, refusal, rules)],
    stream,
    warnings: [message],
  };
}

const reasons = [...requestRefusals, "request_dropped"] as const;
type Reason = (typeof reasons)[number];

function isAnswerOfGateway({ input }: ExecutedJob): boolean {
  return input?.type === TOOL_RESULT && reasons.some((reason) => reason === input.payload.reason);
}

function whyUnanswered({ children }: Routed, { answered, hasRoom }: RequestRules): Reason | undefined {
  if (children.length === 0) return "tool_unroutable";
  if (children.every(({ id }) => answered.has(id))) return "request_dropped";
  return hasRoom ? undefined : "max_tree_jobs_exceeded";
}

function sentence(reason: Reason, agent: string, { payload, dedupe_key }: GatewayEvent, suffix: string): string {
  const name = JSON.stringify(typeof payload.tool === "string" ? payload.tool.slice(0, 200) : suffix.slice(0, 200));
  const request = `request of ${agent} for the tool ${name}`;
  switch (reason) {
    case "tool_unroutable":
      return `tool_unroutable: no pipeline takes this ${request}`;
    case "max_tree_jobs_exceeded":
      return `tree_too_large: the job tree has no room for a ${request}`;
    case "request_dropped":
      return `the ${request} was dropped: a job has succeeded under its key ${JSON.stringify(dedupe_key)} before`;
  }
}

/** True in the turn that creates the run: without that turn there is none. */
function isStarted(runId: string, { before, after }: RequestRules): boolean {
  return Object.hasOwn(storedRuns(after), runId) && !Object.hasOwn(storedRuns(before), runId);
}

function bridgeTo(
  job: ExecutedJob,
  request: GatewayEvent,
  correlation: Correlation,
  { reason, message }: { readonly reason: Reason; readonly message: string },
  { tables, now }: RequestRules,
) {
  const id = derivedId("bridge", job.id, request.event_id);
  const payload = failedResult(correlation, { error: message, permanent: true, reason, completed_at: now });
  const event = completeEvent(
    { type: TOOL_RESULT, payload, event_id: derivedId(TOOL_RESULT, job.id, request.event_id) },
    { source: job.plugin, timestamp: now, jobId: job.id, index: 0 },
  );
  // Without a key: what an earlier request of this name came to must not keep the agent from hearing of this one.
  return bridgeJob({ id, agent: job.plugin, event, context_id: job.context_id, waits_for_instance: null }, tables);
}
