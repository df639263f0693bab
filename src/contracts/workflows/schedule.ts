// When a workflow runs by itself: its cron triggers, handed to whatever keeps time.
import { numeric, scalarText, truthy } from "../coerce.ts";
import type { Hooks } from "../hooks.ts";
import type { JsonMap } from "../json.ts";
import type { WorkflowSpec } from "./spec.ts";

/** What is asked of a scheduler. Each entry starts the workflow of that id. */
export interface WorkflowScheduler {
  /** Takes back every entry of a workflow; one without any is fine. */
  unschedule(workflowId: string): void | Promise<void>;
  /** Adds an entry beside those that are there. */
  cron(workflowId: string, expression: string): void | Promise<void>;
  every(workflowId: string, seconds: number): void | Promise<void>;
}

/** Without a scheduler the events are emitted all the same, for a host that keeps time in its own way. */
export type ScheduleHost = {
  readonly scheduler?: WorkflowScheduler | undefined;
  readonly hooks?: Hooks | undefined;
};

/** Puts every cron trigger of a workflow in the place of what was scheduled of it; without one nothing changes. */
export async function schedule(spec: WorkflowSpec, { scheduler, hooks }: ScheduleHost): Promise<void> {
  const triggers = spec.triggers.filter(({ type }) => type === "cron");
  // Once for all of them: before each, it would take back the one before.
  if (triggers.length > 0) await scheduler?.unschedule(spec.id);
  for (const trigger of triggers) {
    hooks?.emit("workflowScheduleRequested", spec, trigger);
    if (scheduler) await enter(spec.id, trigger, scheduler);
  }
}

/** Takes back what was scheduled of a workflow. */
export async function unschedule(workflowId: string, { scheduler }: ScheduleHost): Promise<void> {
  await scheduler?.unschedule(workflowId);
}

async function enter(workflowId: string, trigger: JsonMap, scheduler: WorkflowScheduler): Promise<void> {
  const expression = truthy(trigger.expression) ? scalarText(trigger.expression) : undefined;
  if (expression !== undefined) return scheduler.cron(workflowId, expression);
  const seconds = Math.trunc(numeric(trigger.interval) ?? 0);
  // Less than a second would be always.
  if (seconds > 0) await scheduler.every(workflowId, seconds);
}
