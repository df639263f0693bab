// The run that goes on while a job emits its events. What comes of those starts no other run; what comes of the end of a run
// may.
import { derivedRunId, storedRuns, storedStatus } from "../../../contracts/gateway/agent/agentic-run.ts";
import { AGENT_COMPLETED, AGENT_ESCALATED } from "../../../contracts/gateway/agent/correlation.ts";
import type { EmittedEvent } from "../../../contracts/gateway/protocol/event.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import { runOfContext } from "../../pipelines/inside-run.ts";
import type { ExecutedJob } from "../execute/executed-job.ts";

/** The events of a job, and the state of its plugin after it. */
export type Emitted = { readonly events: readonly Pick<EmittedEvent, "type" | "payload">[]; readonly after: JsonMap };

/** Undefined outside of runs, and in the turn that ends its run. `handle` of an agent is a turn of some run. */
export function runGoingOn(job: ExecutedJob, { events, after }: Emitted): string | undefined {
  const run = runOfContext(job.context) ?? (isTurn(job) ? (namedRun(events) ?? derivedRunId(job.id)) : undefined);
  return events.some((event) => endsRunOf(job, event, after)) ? undefined : run;
}

/** True for the event with which an agent ends the run that its turn belongs to, or any run where it belongs to none. */
export function endsRunOf(
  { isAgent, context }: ExecutedJob,
  event: Emitted["events"][number],
  after: JsonMap,
): boolean {
  if (!isAgent || (event.type !== AGENT_COMPLETED && event.type !== AGENT_ESCALATED)) return false;
  const { run_id } = event.payload;
  const own = runOfContext(context);
  if (own !== undefined && own !== run_id) return false;
  const runs = storedRuns(after);
  return typeof run_id !== "string" || !Object.hasOwn(runs, run_id) || storedStatus(runs[run_id]) !== "running";
}

/** A run that a turn inside another run has created. */
export function runStartedInside(job: ExecutedJob, before: JsonMap, after: JsonMap): string | undefined {
  const own = runOfContext(job.context);
  if (!job.isAgent || own === undefined) return undefined;
  const known = storedRuns(before);
  return Object.keys(storedRuns(after)).find((runId) => runId !== own && !Object.hasOwn(known, runId));
}

function namedRun(events: Emitted["events"]): string | undefined {
  return events.map(({ payload }) => payload.run_id).find((id) => typeof id === "string");
}

function isTurn({ isAgent, command }: ExecutedJob): boolean {
  return isAgent && command === "handle";
}
