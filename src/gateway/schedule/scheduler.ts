// The scheduler: on every tick each schedule that is due queues its command, once in the whole installation.
import type { GatewayStores } from "../../backend/gateway/gateway-stores.ts";
import type { NewJob, NewStreamEntry } from "../../backend/gateway/job-store.ts";
import type { StoredSchedule } from "../../backend/gateway/schedule-store.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { PluginSettings, ScheduleSettings } from "../config/gateway-config.ts";
import { admit, closedBreaker, record } from "./breaker.ts";
import { changeBreaker } from "./change-breaker.ts";
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
    await tickEntry(deps, entry, stored.get(key), time);
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
  const { plugin, schedule } = entry;
  const hash = scheduleHash(schedule);
  if (!known || known.definition_hash !== hash) {
    const fresh = register(deps, entry, hash, known, now);
    if (!(await schedules.put(fresh, known))) return;
    return await tickEntry(deps, entry, fresh, time);
  }
  if (known.status !== "active" || known.next_run_at === null || known.next_run_at > now) return;
  const command = schedule.command;
  const breaker = (await schedules.breaker(plugin, command)) ?? closedBreaker(plugin, command);
  const admission = admit(breaker, entry.settings.circuit_breaker, now);
  if (!admission.isAdmitted) return await moveOn(deps, entry, known, now, "circuit_open");
  const queued = await jobsFor(deps, entry, known, time);
  if (queued.length > 0 && admission.breaker !== breaker) {
    const before =
      breaker.state === "closed" && breaker.failures === 0 ? await schedules.breaker(plugin, command) : breaker;
    if (!(await changeBreaker(deps, admission.breaker, before))) return;
  }
  const moved = after(deps, entry, known, now);
  const stream =
    queued.length > 0 ? [deps.describe("scheduler.scheduled", { plugin, command, schedule_id: schedule.id })] : [];
  await schedules.fire({ schedule: moved, expected_next_run_at: known.next_run_at, jobs: queued, stream });
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

async function moveOn(
  deps: SchedulerDeps,
  entry: Entry,
  known: StoredSchedule,
  now: number,
  why: string,
): Promise<void> {
  const { plugin, schedule } = entry;
  const stream = [
    deps.describe("scheduler.skipped", { plugin, command: schedule.command, schedule_id: schedule.id, reason: why }),
  ];
  const moved = after(deps, entry, known, now);
  await deps.schedules.fire({ schedule: moved, expected_next_run_at: known.next_run_at, jobs: [], stream });
}

/** What a due schedule queues: nothing while its last job is outstanding, unless it says otherwise. */
async function jobsFor(
  deps: SchedulerDeps,
  entry: Entry,
  known: StoredSchedule,
  { now, isFirst }: TickTime,
): Promise<NewJob[]> {
  const { plugin, schedule, settings } = entry;
  let count = isFirst ? runsDue(schedule, (known.next_run_at ?? now) / 1_000, now / 1_000) : 1;
  const outstanding = (
    await deps.jobs.list({ plugin, command: schedule.command, statuses: ["queued", "running"], limit: 100 })
  ).filter(
    ({ source_event_id, parent_job_id }) =>
      parent_job_id === null && source_event_id === scheduleRef(plugin, schedule.id),
  );
  if (schedule.if_running === "cancel") {
    for (const { id } of outstanding) await deps.jobs.cancel(id, `schedule ${schedule.id}`);
  } else if (schedule.if_running === "skip" && outstanding.length > 0) {
    return [];
  } else {
    count = Math.min(count, Math.max(0, settings.max_outstanding_polls - outstanding.length));
  }
  const at = known.next_run_at ?? now;
  return Array.from({ length: count }, (_, index) => deps.createJob(entry, `${plugin} ${schedule.id} ${at} ${index}`));
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
