// The job of a step's `if`, which runs inside the gateway.
import { runSwitch } from "../../pipelines/switch-step.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Outcome } from "./executed-job.ts";
import type { Opened } from "./opened-job.ts";

export function evaluateSwitch({ plugins }: Snapshot, { step, executed, job }: Opened): Outcome {
  if (!step) {
    const error = `The pipeline "${job.place?.pipeline ?? ""}" has no step "${job.place?.step_id ?? ""}" any more.`;
    return { kind: "failed", failure: { outcome: "failed", reason: "preflight", retryable: false, error } };
  }
  const config = step.guards === undefined ? {} : (plugins.get(step.guards)?.config ?? {});
  const payload = executed.input?.payload ?? {};
  const decided = runSwitch(step, { payload, context: executed.context, config });
  if (decided.kind === "failed") {
    return {
      kind: "failed",
      failure: { outcome: "failed", reason: "preflight", retryable: false, error: decided.problem },
    };
  }
  const result = decided.holds ? "true" : "false";
  return { kind: "ok", response: { status: "ok", result, events: [decided.event], logs: [] } };
}
