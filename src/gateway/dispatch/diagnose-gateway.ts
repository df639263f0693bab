// What keeps the gateway from going on, in a sentence each, and what to type about it.
import type { GatewayStores } from "../../backend/gateway/gateway-stores.ts";
import type { ListedJob } from "../../backend/gateway/job-store.ts";
import type { StoredBreaker } from "../../backend/gateway/schedule-store.ts";
import type { Finding, Findings, GatewayCause } from "../../threads/diagnose.ts";
import type { Snapshot } from "./snapshot.ts";

/** What is due is usually started within a second. */
const OVERDUE_US = 10_000_000;

/** As many of the newest dead jobs are looked at. */
const MOST_DEAD = 1_000;

/** Among as many of the last events is the beginning of a job, where jobs are begun. */
const MOST_EVENTS = 200;

type Stores = Pick<GatewayStores, "jobs" | "control" | "schedules" | "events">;

/** A job that only waits behind others is listed, and the gateway is healthy. */
export async function diagnoseGateway(stores: Stores, snapshot: Snapshot): Promise<Findings> {
  const { jobs, control, schedules } = stores;
  const [pause, dead, breakers, counts] = await Promise.all([
    control.currentPause(),
    jobs.list({ statuses: ["dead"], limit: MOST_DEAD }),
    schedules.breakers(),
    jobs.counts(),
  ]);
  const findings: Finding[] = [];
  if (pause) {
    const sentence = `The gateway was paused by ${pause.by} at ${time(pause.from)}: no job is started.`;
    findings.push(finding("gateway_paused", sentence, "holdfast gateway resume"));
  }
  // What was cancelled is dead too, and was meant to be.
  findings.push(...ofDead(dead.filter(({ reason }) => reason !== "cancelled")));
  findings.push(...breakers.filter((breaker) => isInTheWay(breaker, snapshot)).map(ofBreaker));
  const { oldest_due_us, byStatus } = counts;
  if (pause || oldest_due_us === null || oldest_due_us <= OVERDUE_US) return asFound(findings);
  const seconds = Math.floor(oldest_due_us / 1_000_000);
  if (byStatus.running > 0 || (await hasJustStarted(stores))) {
    const sentence = `The job that is due the longest has waited for ${seconds} s behind others; service.max_workers and parallelism say how many run at once.`;
    return asFound(findings, [finding("gateway_job_due", sentence, "holdfast gateway jobs --status queued")]);
  }
  const sentence = `A job has been due for ${seconds} s, and none is started: no process runs the gateway, or none that may run the plugin of the job.`;
  return asFound([...findings, finding("gateway_job_due", sentence, "holdfast serve")]);
}

function asFound(amiss: readonly Finding[], listed: readonly Finding[] = []): Findings {
  return { healthy: amiss.length === 0, findings: [...amiss, ...listed] };
}

function ofDead([last, ...others]: readonly ListedJob[]): readonly Finding[] {
  if (!last) return [];
  if (others.length > 0) {
    const sentence = `${others.length + 1} jobs are dead: their workers died as often as they have attempts. The newest is one of ${last.plugin}.${last.command}.`;
    return [finding("gateway_jobs_dead", sentence, "holdfast gateway jobs --status dead")];
  }
  const sentence = `The job ${last.id} of ${last.plugin}.${last.command} is dead: its workers died as often as it has attempts.`;
  return [finding("gateway_jobs_dead", sentence, `holdfast gateway jobs ${last.id}`)];
}

/** One whose command is not scheduled any more keeps nothing from running. */
function isInTheWay({ state, plugin, command }: StoredBreaker, { config }: Snapshot): boolean {
  const { schedules = [] } = config.plugins.get(plugin) ?? {};
  return state !== "closed" && schedules.some((schedule) => schedule.command === command);
}

function ofBreaker({ plugin, command, state, failures, opened_at }: StoredBreaker): Finding {
  const after = `after ${failures} failure${failures === 1 ? "" : "s"}`;
  const since = opened_at === null ? "" : `, since ${time(opened_at)}`;
  const is =
    state === "open"
      ? `is open ${after}${since}: it is not scheduled meanwhile`
      : `is half open ${after}: one job tries it`;
  const sentence = `The circuit breaker of ${plugin}.${command} ${is}.`;
  return finding("gateway_circuit_open", sentence, `holdfast gateway jobs --plugin ${plugin}`);
}

/** Between two jobs none runs for a moment. */
async function hasJustStarted({ events, control }: Stores): Promise<boolean> {
  const [last, now] = await Promise.all([events.last(), control.now()]);
  const entries = await events.read({ after: Math.max(0, last - MOST_EVENTS), limit: MOST_EVENTS });
  return entries.some(({ type, at }) => type === "job.started" && now - at <= OVERDUE_US);
}

function finding(cause: GatewayCause, sentence: string, command: string): Finding {
  return { thread_id: null, cause, sentence, command };
}

function time(microseconds: number): string {
  return new Date(microseconds / 1_000).toISOString();
}
