// One response of a tool inside the pipeline of the worked example: what becomes of its job, and the jobs that follow.
import type { PipelinePlace } from "../../src/contracts/gateway/job.ts";
import type { GatewayEvent } from "../../src/contracts/gateway/protocol/event.ts";
import type { PluginRequest } from "../../src/contracts/gateway/protocol/request.ts";
import { decodeResponse } from "../../src/contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { locatedObject } from "../../src/gateway/config/located-object.ts";
import { applyExecution } from "../../src/gateway/dispatch/commit/apply-execution.ts";
import type { Child, Context } from "../../src/gateway/dispatch/commit/new-child.ts";
import { loadPipelines } from "../../src/gateway/pipelines/load-pipelines.ts";

export type ApplyCase = {
  readonly request: PluginRequest & { readonly event?: GatewayEvent; readonly context: JsonMap };
  readonly response: JsonMap;
  readonly show: Readonly<Record<"child" | "context" | "payload", readonly string[]>>;
};

const PIPELINE = "agentic-tool-fetch";
const MAX_ATTEMPTS = 4;

const commands = new Map([
  ["fetch", { commands: ["handle"], isAgent: false, base: "fetch" }],
  ["agentic-loop", { commands: ["handle", "poll", "health"], isAgent: true, base: "agentic-loop" }],
]);

const loaded = loadPipelines({
  pipelineSources: [
    locatedObject(
      [
        {
          name: PIPELINE,
          on: "agentic.tool_request.fetch",
          steps: [
            { id: "fetch", uses: "fetch" },
            { id: "resume", uses: "agentic-loop" },
          ],
        },
      ],
      "vectors",
    ),
  ],
  routeSources: [],
  plugins: commands,
});
if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
const { graph } = loaded;
const plugins = new Map([...commands.keys()].map((name) => [name, { maxAttempts: MAX_ATTEMPTS }]));

export function applyResponse({ request, response, show }: ApplyCase): JsonMap {
  const { job_id, command, state, event = null } = request;
  const plugin = String(request.context.ductile_plugin);
  const context = accumulatedOf(request.context);
  const place = placeOf(request.context);
  const decoded = decodeResponse({ stdout: JSON.stringify(response), exitCode: 0 });
  const applied = applyExecution(
    {
      id: job_id,
      plugin,
      command,
      attempt: 1,
      max_attempts: MAX_ATTEMPTS,
      context_id: "context",
      place,
      step: place ? graph.pipelines.get(place.pipeline)?.steps.get(place.step_id) : undefined,
      context,
      input: event,
      isAgent: commands.get(plugin)?.isAgent === true,
      notifiesOnComplete: false,
      factOutputs: [],
      backoffBaseMs: 30_000,
    },
    decoded.outcome === "succeeded"
      ? { kind: "ok", response: decoded.response }
      : { kind: "failed", failure: { ...decoded, outcome: "failed" } },
    { tables: { graph, plugins, commands, hookMaxDepth: 4 }, state, now: "2026-02-16T12:00:10Z", random: 0 },
  );
  const { settlement, children, contexts } = applied;
  return {
    job_outcome: settlement.status,
    attempt_after: settlement.status === "queued" ? 2 : null,
    children: children.map((child) => showChild(child, contexts, context, show)),
  };
}

/** The context as it is stored: without what a plugin is shown of its place. */
function accumulatedOf(context: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(context).filter(([key]) => !key.startsWith("ductile_")));
}

function placeOf(context: JsonMap): PipelinePlace | null {
  const { ductile_pipeline, ductile_step_id, ductile_pipeline_instance_id, ductile_route_depth } = context;
  if (typeof ductile_pipeline !== "string") return null;
  return {
    ...{ pipeline: ductile_pipeline, step_id: String(ductile_step_id) },
    ...{ instance_id: String(ductile_pipeline_instance_id), depth: Number(ductile_route_depth ?? 0) },
  };
}

function showChild(child: Child, contexts: readonly Context[], inherited: JsonMap, show: ApplyCase["show"]): JsonMap {
  const { plugin, command, place, payload, dedupe_key, context_id } = child;
  const context = contexts.find(({ id }) => id === context_id)?.accumulated ?? inherited;
  const event = payload as Partial<GatewayEvent>;
  const all: JsonMap = {
    ...{ plugin, command, dedupe_key, event_type: event.type ?? null },
    ...(place && { pipeline: place.pipeline, step_id: place.step_id }),
    context: only(context, show.context),
    payload: only(event.payload ?? {}, show.payload),
  };
  return only(all, show.child);
}

function only(map: JsonMap, keys: readonly string[]): JsonMap {
  return Object.fromEntries(Object.entries(map).filter(([key]) => keys.includes(key)));
}
