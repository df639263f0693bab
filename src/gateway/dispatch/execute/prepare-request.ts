// The request with which a job's plugin is called.
import { isAbsolute, join } from "node:path";
import { readCorrelation } from "../../../contracts/gateway/agent/correlation.ts";
import { visibleContext } from "../../../contracts/gateway/pipelines/context.ts";
import { buildRequest, type PluginRequest } from "../../../contracts/gateway/protocol/request.ts";
import { isMap, type JsonMap } from "../../../contracts/json.ts";
import { folderName } from "../../agent/workspace/file-workspace.ts";
import { defaultTimeoutMs } from "../../plugins/defaults.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Opened } from "./opened-job.ts";

export type Prepared =
  | { readonly plugin: Plugin; readonly request: PluginRequest; readonly timeoutMs: number }
  | { readonly problem: string };

export async function prepareRequest(
  { now, workspaceRoot }: DispatchDeps,
  { graph }: Snapshot,
  { job, plugin, step, payload, executed }: Opened,
  state: JsonMap,
): Promise<Prepared> {
  if (!plugin) return { problem: `There is no plugin "${job.plugin}" any more.` };
  const { command, place } = job;
  const timeoutMs = step?.timeout_ms ?? plugin.timeoutsMs[command] ?? defaultTimeoutMs(command);
  const maxDepth = place ? (graph.pipelines.get(place.pipeline)?.max_depth ?? null) : null;
  const context = visibleContext(executed.context, { plugin: plugin.name, place, max_depth: maxDepth });
  const workspaceDir = workspaceOf(executed, job.id, workspaceRoot);
  const built = buildRequest({
    jobId: job.id,
    command,
    config: plugin.config,
    state,
    payload,
    context,
    workspaceDir,
    deadlineAt: new Date(now() + timeoutMs).toISOString(),
    with: step?.with,
    event: {
      type: job.submitted_by.startsWith("webhook:") ? "webhook.received" : "api.trigger",
      source: job.submitted_by,
      timestamp: new Date(job.created_at / 1_000).toISOString(),
      event_id: job.source_event_id ?? job.id,
    },
  });
  return "problem" in built ? built : { plugin, request: built.request, timeoutMs };
}

/** The folder of the agent run that the job belongs to: of the run that it starts, or of the one that its context names. */
function workspaceOf(
  { context, isAgent, command }: Opened["executed"],
  jobId: string,
  root: string,
): string | undefined {
  const { ductile: control } = context;
  const ref = isMap(control) ? control.workspace_ref : undefined;
  if (typeof ref === "string") return join(absolute(root), folderName(ref));
  const startsRun = isAgent && command === "handle" && readCorrelation(context) === undefined;
  return startsRun ? join(absolute(root), folderName(`job:${jobId}`)) : undefined;
}

function absolute(root: string): string {
  return isAbsolute(root) ? root : join(process.cwd(), root);
}
