// A run that people have cancelled is escalated like one that failed. As a command it takes its turn behind the others,
// so that no two turns change the agent's state at once.
import { trimmed } from "../../contracts/coerce.ts";
import { readRun, storedRuns, storedStatus } from "../../contracts/gateway/agent/agentic-run.ts";
import type { PluginResponse } from "../../contracts/gateway/protocol/response.ts";
import { ignore, quoted, refuse } from "./answer.ts";
import { draftRun } from "./run-draft.ts";
import type { Turn } from "./turn-ports.ts";

/** Reads `{ run_id, by? }` from the job's payload. */
export async function cancelRun(turn: Turn): Promise<PluginResponse> {
  const { payload = {}, job_id } = turn.request;
  const { run_id } = payload;
  if (typeof run_id !== "string") return refuse({}, "cancel needs the run_id of a run");
  const runs = storedRuns(turn.state);
  const stored = Object.hasOwn(runs, run_id) ? runs[run_id] : undefined;
  const status = storedStatus(stored);
  if (status === undefined) return refuse({ run_id }, "there is no such run");
  const run = readRun(stored, turn.config);
  if (run?.status !== "running") return ignore("info", { run_id }, `the run is ${quoted(status)}`);
  const { workspace_ref, attempt, pending_step: step, pending_tool: tool, completed_steps } = run;
  const by = trimmed(payload.by) ?? `job ${job_id}`;
  const steps_taken = completed_steps.at(-1) ?? 0;
  const draft = draftRun(turn, { workspace_ref, subject: { run_id, step, tool }, at: { step, attempt }, steps_taken });
  return await draft.escalate("reflect", run, { reason: "cancelled", by });
}
