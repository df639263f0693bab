// A run that people have cancelled is escalated like one that failed. As a command it takes its turn behind the others,
// so that no two turns change the agent's state at once.
import { trimmed } from "../../contracts/coerce.ts";
import { readRun, storedRuns, storedStatus } from "../../contracts/gateway/agent/agentic-run.ts";
import type { PluginResponse } from "../../contracts/gateway/protocol/response.ts";
import { answer, ignore, quoted, refuse } from "./answer.ts";
import { escalateRun, traceEnd } from "./end-run.ts";
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
  const { pending_step: step, pending_tool: tool } = run;
  const by = trimmed(payload.by) ?? `job ${job_id}`;
  const change = escalateRun(turn, { run_id, step, tool }, run, { reason: "cancelled", by });
  const logs = [...change.logs, ...(await traceEnd(turn, change, run, "cancelled"))];
  return await answer(turn, { result: change.result, events: [change.event], logs }, { [run_id]: change.run });
}
