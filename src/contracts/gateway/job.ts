// Jobs: one queued call of one command of one plugin.

/** There is none for a step that was left out: its `if` is a job of its own, and the step is not queued. */
export const jobStatuses = ["queued", "running", "succeeded", "failed", "timed_out", "dead"] as const;
export type JobStatus = (typeof jobStatuses)[number];

export type EndedStatus = Exclude<JobStatus, "queued" | "running">;

export function hasEnded(status: JobStatus): status is EndedStatus {
  return status !== "queued" && status !== "running";
}

/** Where a job stands in a pipeline. */
export type PipelinePlace = {
  readonly pipeline: string;
  readonly step_id: string;
  /** The digest of the step that the job was queued for, where it has one: its id may be that of another step by now. */
  readonly step_digest?: string;
  readonly instance_id: string;
  /** Hops since the instance began. */
  readonly depth: number;
};

/** The plugin that evaluates the `if` of steps. It runs inside the gateway. */
export const SWITCH_PLUGIN = "core.switch";
export const SWITCH_TRUE = "ductile.switch.true";
export const SWITCH_FALSE = "ductile.switch.false";

/** Routed in place of the events of a pipeline step that emitted none. */
export const STEP_SUCCEEDED = "ductile.step.succeeded";
