// The request with which a job's plugin is called.
import { visibleContext } from "../../../contracts/gateway/pipelines/context.ts";
import { buildRequest, type PluginRequest } from "../../../contracts/gateway/protocol/request.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import { defaultTimeoutMs } from "../../plugins/defaults.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import { agentHints } from "../agents/agent-hints.ts";
import { workspaceDir } from "../agents/workspace-dir.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Opened } from "./opened-job.ts";

export type Prepared =
  | { readonly plugin: Plugin; readonly request: PluginRequest; readonly timeoutMs: number }
  | { readonly problem: string };

export async function prepareRequest(
  deps: DispatchDeps,
  snapshot: Snapshot,
  opened: Opened,
  state: JsonMap,
): Promise<Prepared> {
  const { job, plugin, step, payload, executed } = opened;
  if (!plugin) return { problem: `There is no plugin "${job.plugin}" any more.` };
  const { command, place } = job;
  const timeoutMs = step?.timeout_ms ?? plugin.timeoutsMs[command] ?? defaultTimeoutMs(command);
  const maxDepth = place ? (snapshot.graph.pipelines.get(place.pipeline)?.max_depth ?? null) : null;
  const visible = visibleContext(executed.context, { plugin: plugin.name, place, max_depth: maxDepth });
  const context = { ...visible, ...(await agentHints(deps, snapshot, opened, state)) };
  const built = buildRequest({
    jobId: job.id,
    command,
    config: plugin.config,
    state,
    payload,
    context,
    workspaceDir: workspaceDir(opened, state, deps.workspaceRoot),
    deadlineAt: new Date(deps.now() + timeoutMs).toISOString(),
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
