// The scheduler of several processes on one database, each looked at by its own: a test decides which one looks when.
import { onTestFinished } from "vitest";
import type { GatewayStores } from "../../src/backend/gateway/gateway-stores.ts";
import type { NewJob } from "../../src/backend/gateway/job-store.ts";
import { openStores } from "../../src/backend/sql/open-stores.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { ScheduleSettings } from "../../src/gateway/config/gateway-config.ts";
import { type Entry, scheduleRef } from "../../src/gateway/schedule/entry.ts";
import { type SchedulerDeps, tick } from "../../src/gateway/schedule/scheduler.ts";
import { type HeldClock, heldClock } from "../../src/testing/held-clock.ts";

export type SchedulerWorld = GatewayStores & {
  readonly clock: HeldClock;
  /** What a process depends on that looks at the schedules. */
  readonly deps: SchedulerDeps;
  /** Ids of jobs whose cancellation was asked for, in order. */
  readonly cancelled: readonly string[];
  look(entries: readonly Entry[], deps?: SchedulerDeps): Promise<void>;
};

export async function schedulerWorld(): Promise<SchedulerWorld> {
  const clock = heldClock();
  const driver = await sqlite(":memory:", { clock }).open();
  onTestFinished(() => driver.close());
  const { gateway } = await openStores(driver, { keyFingerprint: "key" });
  const cancelled: string[] = [];
  const deps: SchedulerDeps = {
    ...gateway,
    random: () => 0,
    createJob,
    describe: (type, data) => ({ type, data: JSON.stringify(data), job_id: null }),
    async cancel(id, by) {
      cancelled.push(id);
      await gateway.jobs.cancel(id, by);
    },
    apart: (_failed, work) => work(),
  };
  const look = async (entries: readonly Entry[], own = deps) =>
    await tick(own, entries, { now: await gateway.control.now(), isFirst: false });
  return { ...gateway, clock, deps, cancelled, look };
}

/** A schedule of the plugin "tool": it runs `poll` every hour unless it says otherwise. */
export function scheduleOf(id: string, parts: Partial<ScheduleSettings> = {}): Entry {
  return {
    ...{ plugin: "tool", problem: null },
    settings: { circuit_breaker: { threshold: 3, reset_after_ms: 1_800_000 }, max_outstanding_polls: 100 },
    schedule: {
      ...{ id, when: { every_ms: 3_600_000, jitter_ms: 0 }, timezone: null, command: "poll", payload: {} },
      ...{ catch_up: "skip", if_running: "skip", place: { file: "gateway.yaml", line: 1, column: 1 } },
      ...parts,
    },
  };
}

function createJob({ plugin, schedule }: Entry, run: string): NewJob {
  const source_event_id = scheduleRef(plugin, schedule.id);
  return aRoot(`job ${run}`, { plugin, command: schedule.command, source_event_id });
}

/** A job that is the root of its tree. */
export function aRoot(id: string, parts: Partial<NewJob> = {}): NewJob {
  return {
    ...{ id, plugin: "tool", command: "poll", max_attempts: 1, submitted_by: "gateway", parent_job_id: null },
    ...{ root_job_id: id, source_event_id: null, context_id: null, place: null, user_id: null, sealed_payload: "{}" },
    ...{ dedupe: null, waits_for_instance: null, ...parts },
  };
}
