// The scheduler: on every tick each schedule that is due queues its command, once in the whole installation.
import type { GatewayStores } from "../../backend/gateway/gateway-stores.ts";
import type { NewJob, NewStreamEntry } from "../../backend/gateway/job-store.ts";
import type { StoredSchedule } from "../../backend/gateway/schedule-store.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { admit, closedBreaker } from "./breaker.ts";
import { breakerEntries } from "./change-breaker.ts";
import { type Entry, scheduleRef } from "./entry.ts";
import { followDefinition, inMicroseconds } from "./follow-definition.ts";
import { nextRun, runsDue } from "./next-run.ts";

export type SchedulerDeps = Pick<GatewayStores, "schedules" | "jobs"> & {
  /** From 0 to 1. */
  readonly random: () => number;
  /** The job of one run of a schedule; the same one for the same run. */
  readonly createJob: (entry: Entry, run: string) => NewJob;
  readonly describe: (type: string, data: JsonMap) => NewStreamEntry;
  /** Ends a job for the sake of a newer one, with all that its end causes. */
  readonly cancel: (jobId: string, by: string) => Promise<void>;
  /** Does a part of the work whose failure, which it reports, is to keep nothing else from its turn. */
  readonly apart: (failed: string, work: () => Promise<void>) => Promise<void>;
};

export type TickTime = {
  /** Microseconds. */
  readonly now: number;
  /** A process looks for the first time: what is late was missed while there may have been none. */
  readonly isFirst: boolean;
};

/** Looks at every schedule once. Any number of processes may do it at the same time. */
export async function tick(deps: SchedulerDeps, entries: readonly Entry[], time: TickTime): Promise<void> {
  const stored = new Map((await deps.schedules.list()).map((each) => [keyOf(each.plugin, each.schedule_id), each]));
  for (const entry of entries) {
    const key = keyOf(entry.plugin, entry.schedule.id);
    const known = stored.get(key);
    await deps.apart(`The schedule ${key} was not looked at`, () => tickEntry(deps, entry, known, time));
    stored.delete(key);
  }
  // What is left is in the configuration no more. It is kept for a while: it may be there again.
  for (const known of stored.values()) {
    if (known.removed_at === null) await deps.schedules.put({ ...known, removed_at: time.now }, known);
  }
}

function keyOf(plugin: string, scheduleId: string): string {
  return JSON.stringify([plugin, scheduleId]);
}

async function tickEntry(
  deps: SchedulerDeps,
  entry: Entry,
  known: StoredSchedule | undefined,
  time: TickTime,
): Promise<void> {
  const current = followDefinition(entry, known, { now: time.now, random: deps.random() });
  // Another process may have changed it at the same time.
  if (current !== known && !(await deps.schedules.put(current, known))) return;
  const { status, next_run_at: next } = current;
  if (status === "active" && next !== null && next <= time.now) await runDue(deps, entry, current, time);
}

async function runDue(deps: SchedulerDeps, entry: Entry, known: StoredSchedule, time: TickTime): Promise<void> {
  const { schedules, describe } = deps;
  const { plugin, schedule, settings } = entry;
  const { command, id: schedule_id } = schedule;
  const breaker = (await schedules.breaker(plugin, command)) ?? closedBreaker(plugin, command);
  const admission = admit(breaker, settings.circuit_breaker, time.now);
  const ref = scheduleRef(plugin, schedule_id);
  const outstanding = admission.isAdmitted ? await deps.jobs.outstandingOf(ref) : [];
  const runs = admission.isAdmitted ? runsOf(entry, known, outstanding.length, time) : { skipped: "circuit_open" };
  const move = { schedule: after(deps, entry, known, time.now), expected_next_run_at: known.next_run_at };
  if ("skipped" in runs) {
    const skipped = describe("scheduler.skipped", { plugin, command, schedule_id, reason: runs.skipped });
    await schedules.fire({ ...move, jobs: [], stream: [skipped] });
    return;
  }
  const run = `${plugin} ${schedule_id} ${known.next_run_at ?? time.now}`;
  const jobs = Array.from({ length: runs.count }, (_, index) => deps.createJob(entry, `${run} ${index}`));
  const scheduled = describe("scheduler.scheduled", { plugin, command, schedule_id });
  const fired = await schedules.fire({
    ...{ ...move, jobs, stream: [...breakerEntries(describe, admission.breaker, breaker.state), scheduled] },
    // Together with the job that tries: a breaker that was half open without one would let nothing through for a while.
    ...(admission.breaker !== breaker && { breaker: { next: admission.breaker, expected: breaker } }),
  });
  // The process that was faster looks after the older ones: what is outstanding now may be what it has queued.
  if (fired.outcome === "taken" || schedule.if_running !== "cancel") return;
  for (const id of outstanding) await deps.cancel(id, `schedule ${schedule_id}`);
}

/** The schedule after it was due: its next run counts from now, and once more from its success when that comes. */
function after({ random }: SchedulerDeps, { schedule }: Entry, known: StoredSchedule, now: number): StoredSchedule {
  const times = { now: now / 1_000, registeredAt: 0, lastRunAt: now / 1_000, random: random() };
  const next_run_at = inMicroseconds(nextRun(schedule, times));
  return { ...known, status: next_run_at === null ? "exhausted" : known.status, next_run_at, last_run_at: now };
}

type Runs = { readonly count: number } | { readonly skipped: "catch_up" | "if_running" | "max_outstanding_polls" };

/** How many jobs a due schedule queues beside those that are outstanding, or the setting by which it queues none. */
function runsOf(
  { schedule, settings }: Entry,
  { next_run_at }: StoredSchedule,
  outstanding: number,
  { now, isFirst }: TickTime,
): Runs {
  const count = isFirst ? runsDue(schedule, (next_run_at ?? now) / 1_000, now / 1_000) : 1;
  if (count === 0) return { skipped: "catch_up" };
  if (schedule.if_running === "cancel") return { count };
  if (schedule.if_running === "skip") return outstanding > 0 ? { skipped: "if_running" } : { count };
  const room = settings.max_outstanding_polls - outstanding;
  return room > 0 ? { count: Math.min(count, room) } : { skipped: "max_outstanding_polls" };
}
