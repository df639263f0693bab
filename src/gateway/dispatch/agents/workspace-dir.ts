// The folder that a job works in: that of the agent run which it belongs to.
import { isAbsolute, join } from "node:path";
import { HoldfastError } from "../../../contracts/error.ts";
import { readRun, storedRuns, workspaceRef } from "../../../contracts/gateway/agent/agentic-run.ts";
import { readCorrelation, TOOL_RESULT } from "../../../contracts/gateway/agent/correlation.ts";
import { isMap, type Json, type JsonMap } from "../../../contracts/json.ts";
import { folderName } from "../../agent/workspace/file-workspace.ts";
import type { Opened } from "../execute/opened-job.ts";

/** Undefined for a job that belongs to no run. `state` is that of the job's plugin. */
export function workspaceDir(opened: Opened, state: JsonMap, root: string): string | undefined {
  const { executed } = opened;
  const ref = executed.isAgent ? refOfAgent(opened, state) : carriedRef(executed.context);
  const name = ref === undefined ? undefined : nameOf(ref);
  return name === undefined ? undefined : join(isAbsolute(root) ? root : join(process.cwd(), root), name);
}

/**
 * An agent's job goes on with a run or starts one. A run that it starts has a folder named after the job, also where the
 * pipeline was begun by the end of an earlier run.
 */
function refOfAgent({ job, executed, payload }: Opened, state: JsonMap): string | undefined {
  const { command, context, input } = executed;
  if (command !== "handle") return refIn(state, payload.run_id);
  const isTyped = input?.type === TOOL_RESULT;
  const correlation = readCorrelation(context);
  const run = isTyped ? input.payload.run_id : correlation?.run_id;
  if (!isTyped && !correlation) return workspaceRef(job.id);
  return refIn(state, run) ?? carriedRef(context);
}

function refIn(state: JsonMap, runId: Json | undefined): string | undefined {
  const runs = storedRuns(state);
  const run = typeof runId === "string" && Object.hasOwn(runs, runId) ? readRun(runs[runId]) : undefined;
  return run?.workspace_ref || undefined;
}

/** What the pipeline instance carries along since an agent began it. */
function carriedRef({ ductile: control }: JsonMap): string | undefined {
  const ref = isMap(control) ? control.workspace_ref : undefined;
  return typeof ref === "string" ? ref : undefined;
}

/** Agents of other makers refer to their workspaces as they like. */
function nameOf(ref: string): string | undefined {
  try {
    return folderName(ref);
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return undefined;
    throw thrown;
  }
}
