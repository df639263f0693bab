// The `schedules` of a plugin.
import { parseInterval } from "../../../contracts/gateway/durations.ts";
import { isCommandName } from "../../../contracts/gateway/protocol/manifest.ts";
import { emptyMap } from "../../../contracts/json.ts";
import { parseRfc3339 } from "../../../contracts/rfc3339.ts";
import { showPlace } from "../../../yaml/place.ts";
import type { ScheduleSettings } from "../gateway-config.ts";
import { cronProblem } from "./cron-problem.ts";
import { SHORTEST_TICK_MS } from "./parse-service.ts";
import type { Section } from "./section.ts";

const SCHEDULE_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

const kinds = ["every", "cron", "at", "after"] as const;

export function parseSchedules(sections: readonly Section[]): ScheduleSettings[] {
  const schedules = new Map<string, ScheduleSettings>();
  for (const section of sections) {
    const schedule = parseSchedule(section);
    const earlier = schedule && schedules.get(schedule.id);
    if (earlier) section.problem("id", `is already taken by the schedule at ${showPlace(earlier.place)}.`);
    else if (schedule) schedules.set(schedule.id, schedule);
  }
  return [...schedules.values()];
}

function parseSchedule(section: Section): ScheduleSettings | undefined {
  const timezone = readTimezone(section);
  const when = readWhen(section, timezone);
  const id = section.text("id") ?? "default";
  if (!SCHEDULE_ID.test(id)) section.problem("id", "consists of letters, digits, _, - and .");
  const settings = {
    id,
    timezone,
    command: readCommand(section),
    payload: section.json("payload") ?? emptyMap,
    catch_up: section.choice("catch_up", ["skip", "run_once", "run_all"]) ?? "skip",
    if_running: section.choice("if_running", ["skip", "queue", "cancel"]) ?? "skip",
    place: section.place,
  };
  for (const key of ["only_between", "not_on"]) {
    if (section.node(key) !== undefined) section.problem(key, "is not supported; write a cron expression.");
  }
  section.finish();
  return when && { ...settings, when };
}

function readWhen(section: Section, timezone: string | null): ScheduleSettings["when"] | undefined {
  const [kind, ...others] = kinds.filter(section.has);
  for (const each of kinds) section.node(each);
  refuseOutside(section, kind);
  if (kind === undefined || others.length > 0) {
    const named = kind === undefined ? "needs" : "has to have exactly one of";
    return section.problemHere(`${named} every, cron, at or after.`);
  }
  switch (kind) {
    case "every":
      return readEvery(section);
    case "cron":
      return readCron(section, timezone);
    case "at":
      return readAt(section);
    case "after": {
      const after_ms = section.duration("after");
      return after_ms === undefined ? undefined : { after_ms };
    }
  }
}

/** Settings that mean nothing for other kinds. */
function refuseOutside(section: Section, kind: (typeof kinds)[number] | undefined): void {
  for (const key of ["jitter", "catch_up"]) {
    if (section.node(key) !== undefined && kind !== "every") section.problem(key, "only goes with every.");
  }
  if (section.node("timezone") !== undefined && kind !== "cron") section.warning("timezone", "only matters with cron.");
}

function readEvery(section: Section): ScheduleSettings["when"] | undefined {
  const jitter_ms = section.duration("jitter", { least: 0 }) ?? 0;
  const text = section.text("every");
  if (text === undefined) return undefined;
  const every_ms = parseInterval(text);
  if (every_ms !== undefined && every_ms >= SHORTEST_TICK_MS) return { every_ms, jitter_ms };
  return section.problem(
    "every",
    every_ms === undefined
      ? "takes a duration such as 30s, 5m or 1d, or hourly, daily, weekly or monthly."
      : `takes at least ${SHORTEST_TICK_MS}ms.`,
  );
}

function readCron(section: Section, timezone: string | null): ScheduleSettings["when"] | undefined {
  const cron = section.text("cron")?.trim();
  if (cron === undefined) return undefined;
  const problem = cronProblem(cron, timezone);
  return problem === undefined ? { cron } : section.problem("cron", problem);
}

function readAt(section: Section): ScheduleSettings["when"] | undefined {
  const text = section.text("at");
  if (text === undefined) return undefined;
  const at = parseRfc3339(text);
  if (at !== undefined) return { at };
  return section.problem("at", "takes a date that exists, with time and zone, such as 2027-01-31T12:00:00Z.");
}

function readTimezone(section: Section): string | null {
  const timezone = section.text("timezone");
  if (timezone === undefined) return null;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone;
  } catch {
    section.problem("timezone", "takes the name of a time zone, such as Europe/Berlin or UTC.");
    return null;
  }
}

function readCommand(section: Section): string {
  const command = section.text("command") ?? "poll";
  if (command === "handle") section.problem("command", "cannot be handle, which reacts to events.");
  else if (!isCommandName(command)) section.problem("command", "is not the name of a command.");
  return command;
}
