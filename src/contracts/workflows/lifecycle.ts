// What happens to a stored workflow, for its schedule and for those who listen. A scheduler that fails is thrown on, and
// then no event is emitted.
import { type ScheduleHost, schedule, unschedule } from "./schedule.ts";
import type { WorkflowSpec } from "./spec.ts";

/** A workflow was stored, anew or changed. */
export async function saved(spec: WorkflowSpec, host: ScheduleHost): Promise<void> {
  await reschedule(spec, host);
  host.hooks?.emit("workflowSaved", spec);
}

/** A workflow may run again. */
export async function enabled(spec: WorkflowSpec, host: ScheduleHost): Promise<void> {
  await reschedule(spec, host);
  host.hooks?.emit("workflowEnabled", spec);
}

/** A workflow is not to run for now. */
export async function disabled(spec: WorkflowSpec, host: ScheduleHost): Promise<void> {
  await unschedule(spec.id, host);
  host.hooks?.emit("workflowDisabled", spec);
}

/** A workflow is gone; the spec is what it was, where that is known. */
export async function deleted(workflowId: string, spec: WorkflowSpec | null, host: ScheduleHost): Promise<void> {
  await unschedule(workflowId, host);
  host.hooks?.emit("workflowDeleted", workflowId, spec);
}

// First of all, because a workflow may have lost its last trigger.
async function reschedule(spec: WorkflowSpec, host: ScheduleHost): Promise<void> {
  await unschedule(spec.id, host);
  await schedule(spec, host);
}
