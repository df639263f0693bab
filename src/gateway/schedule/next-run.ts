// When a schedule is due next. Pure: the clock and the random draw are passed in.
import { Cron } from "croner";
import type { ScheduleSettings } from "../config/gateway-config.ts";

export type RunTimes = {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** When the schedule was first seen: what `after` counts from. */
  readonly registeredAt: number;
  /** The last run that counts: the last success of an interval, the last firing of everything else. */
  readonly lastRunAt: number | null;
  /** From 0 to 1, for the jitter. */
  readonly random: number;
};

/** Milliseconds since 1970; null when the schedule never runs again. */
export function nextRun({ when, timezone }: ScheduleSettings, times: RunTimes): number | null {
  const { now, registeredAt, lastRunAt, random } = times;
  if ("every_ms" in when) {
    const jitter = Math.floor(random * when.jitter_ms);
    return (lastRunAt === null ? now : lastRunAt + when.every_ms) + jitter;
  }
  if ("cron" in when) return nextCronRun(when.cron, timezone, Math.max(now, lastRunAt ?? 0));
  if (lastRunAt !== null) return null;
  return "at" in when ? Date.parse(when.at) : registeredAt + when.after_ms;
}

/** The first match strictly after a time. */
function nextCronRun(pattern: string, timezone: string | null, after: number): number | null {
  const cron = new Cron(pattern, { paused: true, ...(timezone !== null && { timezone }) });
  return cron.nextRun(new Date(after))?.getTime() ?? null;
}

/** What is queued for runs that were missed while no process was there; the most that are made up for. */
const MOST_MISSED = 100;

/**
 * How many jobs a due interval queues when a process starts: one, or with `run_all` one for every interval that was
 * missed. `skip` queues none for a run that is late by a whole interval.
 */
export function runsDue({ when, catch_up }: ScheduleSettings, dueAt: number, now: number): number {
  if (!("every_ms" in when)) return 1;
  const missed = Math.floor((now - dueAt) / when.every_ms);
  if (missed < 1) return 1;
  if (catch_up === "run_all") return Math.min(MOST_MISSED, missed + 1);
  return catch_up === "run_once" ? 1 : 0;
}
