// The scheduler: on every tick each schedule that is due queues its command, once in the whole installation.
import type { GatewayStores } from "../../backend/gateway/gateway-stores.ts";
import type { NewJob, NewStreamEntry } from "../../backend/gateway/job-store.ts";
import type { StoredSchedule } from "../../backend/gateway/schedule-store.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { PluginSettings, ScheduleSettings } from "../config/gateway-config.ts";
import { admit, closedBreaker, record } from "./breaker.ts";
import { breakerEntries, changeBreaker } from "./change-breaker.ts";
import { nextRun, runsDue } from "./next-run.ts";
import { scheduleHash } from "./schedule-hash.ts";

/** A schedule of the configuration that is in force. */
export type Entry = {
  readonly plugin: string;
  readonly settings: Pick<PluginSettings, "circuit_breaker" | "max_outstanding_polls">;
  readonly schedule: ScheduleSettings;
};

export type SchedulerDeps = Pick<GatewayStores, "schedules" | "jobs" | "control"> & {
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

/** What ties a job to the schedule that queued it. */
export function scheduleRef(plugin: string, scheduleId: string): string {
  return `schedule:${JSON.stringify([plugin, scheduleId])}`;
}

export function readScheduleRef(
  ref: string | null,
): { readonly plugin: string; readonly scheduleId: string } | undefined {
  if (ref === null || !ref.startsWith("schedule:")) return undefined;
  const [plugin, scheduleId] = JSON.parse(ref.slice("schedule:".length)) as [string, string];
  return { plugin, scheduleId };
}

const MOST_RACES = 3;

export type TickTime = {
  /** Microseconds. */
  readonly now: number;
  /** A process looks for the first time: what is late was missed while there may have been none. */
  readonly isFirst: boolean;
};

/** Looks at every schedule once. Any number of processes may do it at the same time. */
export async function tick(
  deps: SchedulerDeps,
  entries: readonly Entry[],
  { isFirst }: Pick<TickTime, "isFirst">,
): Promise<void> {
  const time = { now: await deps.control.now(), isFirst };
  const stored = new Map((await deps.schedules.list()).map((each) => [keyOf(each.plugin, each.schedule_id), each]));
  for (const entry of entries) {
    const key = keyOf(entry.plugin, entry.schedule.id);
    const known = stored.get(key);
    await deps.apart(`The schedule ${key} was not looked at`, () => tickEntry(deps, entry, known, time));
    stored.delete(key);
  }
  // What is left is in the configuration no more.
  for (const { plugin, schedule_id } of stored.values()) await deps.schedules.remove(plugin, schedule_id);
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
  const { schedules } = deps;
  const { now } = time;
  const hash = scheduleHash(entry.schedule);
  if (!known || known.definition_hash !== hash) {
    const fresh = register(deps, entry, hash, known, now);
    if (!(await schedules.put(fresh, known))) return;
    return await tickEntry(deps, entry, fresh, time);
  }
  if (known.status !== "active" || known.next_run_at === null || known.next_run_at > now) return;
  await runDue(deps, entry, known, time);
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

/** The schedule as it is first seen, or after its definition has changed. */
function register(
  { random }: SchedulerDeps,
  { plugin, schedule }: Entry,
  definition_hash: string,
  known: StoredSchedule | undefined,
  now: number,
): StoredSchedule {
  const times = { now: now / 1_000, registeredAt: now / 1_000, lastRunAt: null, random: random() };
  const next = nextRun(schedule, times);
  return {
    plugin,
    schedule_id: schedule.id,
    definition_hash,
    status: next === null ? "exhausted" : known?.status === "paused_manual" ? "paused_manual" : "active",
    reason: null,
    next_run_at: next === null ? null : Math.round(next * 1_000),
    last_run_at: null,
    last_success_at: null,
  };
}

/** The schedule after it was due: its next run counts from now, and once more from its success when that comes. */
function after({ random }: SchedulerDeps, { schedule }: Entry, known: StoredSchedule, now: number): StoredSchedule {
  const times = { now: now / 1_000, registeredAt: 0, lastRunAt: now / 1_000, random: random() };
  const next = nextRun(schedule, times);
  return {
    ...known,
    status: next === null ? "exhausted" : known.status,
    next_run_at: next === null ? null : Math.round(next * 1_000),
    last_run_at: now,
  };
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

/** A scheduled job has ended: the breaker counts it, and an interval begins anew with a success. */
export async function scheduledJobEnded(
  deps: Pick<SchedulerDeps, "schedules" | "control" | "random" | "describe">,
  entry: Entry,
  hasSucceeded: boolean,
): Promise<void> {
  const { schedules, control } = deps;
  const { plugin, schedule, settings } = entry;
  const now = await control.now();
  for (let race = 0; race < MOST_RACES; race++) {
    const stored = await schedules.breaker(plugin, schedule.command);
    const next = record(stored ?? closedBreaker(plugin, schedule.command), hasSucceeded, settings.circuit_breaker, now);
    if (hasSucceeded && !stored) break;
    if (await changeBreaker(deps, next, stored)) break;
  }
  if (!hasSucceeded) return;
  for (let race = 0; race < MOST_RACES; race++) {
    const known = await schedules.get(plugin, schedule.id);
    if (!known) return;
    const next = "every_ms" in schedule.when ? nextAfterSuccess(deps, schedule, now) : known.next_run_at;
    if (await schedules.put({ ...known, last_success_at: now, next_run_at: next }, known)) return;
  }
}

function nextAfterSuccess(
  { random }: Pick<SchedulerDeps, "random">,
  schedule: ScheduleSettings,
  now: number,
): number | null {
  const next = nextRun(schedule, { now: now / 1_000, registeredAt: 0, lastRunAt: now / 1_000, random: random() });
  return next === null ? null : Math.round(next * 1_000);
}
