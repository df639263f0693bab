// A circuit breaker as it is stored, together with what the event stream says of a change of its state.
import type { NewStreamEntry } from "../../backend/gateway/job-store.ts";
import type { BreakerState, ScheduleStore, StoredBreaker } from "../../backend/gateway/schedule-store.ts";
import type { JsonMap } from "../../contracts/json.ts";

export type BreakerDeps = {
  readonly schedules: Pick<ScheduleStore, "putBreaker">;
  readonly describe: (type: string, data: JsonMap) => NewStreamEntry;
};

/** False when another process has changed the breaker since it was read. */
export async function changeBreaker(
  { schedules, describe }: BreakerDeps,
  next: StoredBreaker,
  before: StoredBreaker | undefined,
): Promise<boolean> {
  return await schedules.putBreaker(next, before, breakerEntries(describe, next, before?.state ?? "closed"));
}

/** What the event stream says of a breaker that was in this state. */
export function breakerEntries(
  describe: BreakerDeps["describe"],
  { plugin, command, state: to, failures }: StoredBreaker,
  from: BreakerState,
): readonly NewStreamEntry[] {
  if (from === to) return [];
  const changed = describe("scheduler.circuit_state_changed", { plugin, command, from, to, failures });
  return [changed, ...(to === "half_open" ? [describe("scheduler.circuit_half_open", { plugin, command })] : [])];
}
