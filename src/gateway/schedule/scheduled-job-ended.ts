// What the end of a scheduled job changes: the breaker counts it, and an interval begins anew with a success.
import { closedBreaker, record } from "./breaker.ts";
import { changeBreaker } from "./change-breaker.ts";
import type { Entry } from "./entry.ts";
import { inMicroseconds } from "./follow-definition.ts";
import { nextRun } from "./next-run.ts";
import { scheduleHash } from "./schedule-hash.ts";
import type { SchedulerDeps } from "./scheduler.ts";

const MOST_RACES = 3;

export async function scheduledJobEnded(
  { schedules, describe, random }: Pick<SchedulerDeps, "schedules" | "random" | "describe">,
  { plugin, schedule, settings }: Entry,
  { hasSucceeded, now }: { readonly hasSucceeded: boolean; readonly now: number },
): Promise<void> {
  for (let race = 0; race < MOST_RACES; race++) {
    const stored = await schedules.breaker(plugin, schedule.command);
    const next = record(stored ?? closedBreaker(plugin, schedule.command), hasSucceeded, settings.circuit_breaker, now);
    if (hasSucceeded && !stored) break;
    if (await changeBreaker({ schedules, describe }, next, stored)) break;
  }
  if (!hasSucceeded) return;
  for (let race = 0; race < MOST_RACES; race++) {
    const known = await schedules.get(plugin, schedule.id);
    if (!known) return;
    // This process may have another configuration than the one that is in force.
    const isOwn = known.definition_hash === scheduleHash(schedule);
    const times = { now: now / 1_000, registeredAt: 0, lastRunAt: now / 1_000, random: random() };
    const next = isOwn && "every_ms" in schedule.when ? inMicroseconds(nextRun(schedule, times)) : known.next_run_at;
    if (await schedules.put({ ...known, last_success_at: now, next_run_at: next }, known)) return;
  }
}
