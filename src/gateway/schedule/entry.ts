// A schedule of the configuration that is in force, and what ties its jobs to it.
import type { PluginSettings, ScheduleSettings } from "../config/gateway-config.ts";

export type Entry = {
  readonly plugin: string;
  readonly settings: Pick<PluginSettings, "circuit_breaker" | "max_outstanding_polls">;
  readonly schedule: ScheduleSettings;
  /** Why it cannot run, although its configuration is valid. */
  readonly problem: string | null;
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
