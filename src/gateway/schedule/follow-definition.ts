// A schedule as it is stored, made to follow the configuration. Pure. A change of a definition makes no run due by itself, and a
// schedule that was away for a while goes on where it was: processes with an older configuration may be started at any time.
import type { StoredSchedule } from "../../backend/gateway/schedule-store.ts";
import type { ScheduleSettings } from "../config/gateway-config.ts";
import type { Entry } from "./entry.ts";
import { nextRun } from "./next-run.ts";
import { scheduleHash } from "./schedule-hash.ts";

export type Moment = {
  /** Microseconds. */
  readonly now: number;
  /** From 0 to 1, for the jitter. */
  readonly random: number;
};

/** The schedule itself where there is nothing to change. */
export function followDefinition(entry: Entry, known: StoredSchedule | undefined, moment: Moment): StoredSchedule {
  const { plugin, schedule } = entry;
  const definition_hash = scheduleHash(schedule);
  if (!known) {
    const next_run_at = inMicroseconds(nextRun(schedule, timesOf(moment, null)));
    return {
      ...{ plugin, schedule_id: schedule.id, definition_hash, ...standing(entry, undefined, next_run_at) },
      ...{ next_run_at, last_run_at: null, last_success_at: null, removed_at: null },
    };
  }
  const isSame = known.definition_hash === definition_hash;
  const next_run_at = isSame ? nextOf(entry, known, moment) : changed(schedule, known, moment);
  const { status, reason } = standing(entry, known, next_run_at);
  const isAsStored = status === known.status && reason === known.reason && next_run_at === known.next_run_at;
  if (isSame && isAsStored && known.removed_at === null) return known;
  return { ...known, definition_hash, status, reason, next_run_at, removed_at: null };
}

function standing(
  { problem }: Entry,
  known: StoredSchedule | undefined,
  next: number | null,
): Pick<StoredSchedule, "status" | "reason"> {
  if (known?.status === "paused_manual") return { status: "paused_manual", reason: known.reason };
  if (next === null) return { status: "exhausted", reason: null };
  return problem === null ? { status: "active", reason: null } : { status: "paused_invalid", reason: problem };
}

function nextOf({ schedule, problem }: Entry, known: StoredSchedule, moment: Moment): number | null {
  const wasAway = known.removed_at !== null || (known.status === "paused_invalid" && problem === null);
  const next = wasAway ? backAgain(schedule, known, moment) : known.next_run_at;
  return next === null ? null : withinReach(schedule, known, moment, next);
}

/** Where the clock was set back, the next run may be as far away as the clock was wrong: it is computed anew. */
function withinReach(schedule: ScheduleSettings, known: StoredSchedule, moment: Moment, next: number): number {
  const { when } = schedule;
  const { now } = moment;
  if ("at" in when) return next;
  if ("after_ms" in when) return Math.min(next, now + when.after_ms * 1_000);
  if ("cron" in when) return Math.min(next, following(schedule, known, moment) ?? next);
  if (next <= now + (when.every_ms + when.jitter_ms) * 1_000) return next;
  return inMicroseconds(nextRun(schedule, timesOf(moment, now))) ?? next;
}

/** Of a schedule that is in the configuration again, or valid again. What it missed meanwhile was not to be run; an interval that is over is due. */
function backAgain(schedule: ScheduleSettings, known: StoredSchedule, moment: Moment): number | null {
  const { next_run_at: next } = known;
  if (next === null || next > moment.now) return next;
  return "cron" in schedule.when ? following(schedule, known, moment) : moment.now;
}

/** Of a schedule with a new definition. */
function changed(schedule: ScheduleSettings, known: StoredSchedule, moment: Moment): number | null {
  const { when } = schedule;
  const { now } = moment;
  if ("cron" in when) return following(schedule, known, moment);
  if ("at" in when) {
    const at = Date.parse(when.at) * 1_000;
    return at > now || at === known.next_run_at ? at : null;
  }
  // What has run once does not run again because something else was written beside its time.
  if ("after_ms" in when) return known.next_run_at === null ? null : now + when.after_ms * 1_000;
  const fromNow = inMicroseconds(nextRun(schedule, timesOf(moment, now))) ?? now;
  const last = lastRunOf(known);
  const fromLast = last === null ? now : fromNow - (now - Math.min(last, now));
  if (fromLast > now) return fromLast;
  // The new interval is over already. What was due before still is; otherwise it begins now, unless that is later than before.
  return Math.min(fromNow, known.removed_at === null && known.next_run_at !== null ? known.next_run_at : fromNow);
}

/** In microseconds. A clock that is set back by less than that is corrected; one that was further ahead was wrong. */
const DAY = 24 * 3_600_000_000;

/** The next time that a cron expression matches: not the one for which it ran before its clock was corrected. */
function following(schedule: ScheduleSettings, { last_run_at: last }: StoredSchedule, moment: Moment): number | null {
  const wasWrong = last !== null && last > moment.now + DAY;
  return inMicroseconds(nextRun(schedule, timesOf(moment, wasWrong ? null : last)));
}

function lastRunOf({ last_run_at, last_success_at }: StoredSchedule): number | null {
  if (last_run_at === null || last_success_at === null) return last_run_at ?? last_success_at;
  return Math.max(last_run_at, last_success_at);
}

function timesOf({ now, random }: Moment, lastRunAt: number | null) {
  const inMilliseconds = now / 1_000;
  return {
    ...{ now: inMilliseconds, registeredAt: inMilliseconds, random },
    lastRunAt: lastRunAt === null ? null : lastRunAt / 1_000,
  };
}

export function inMicroseconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds * 1_000);
}
