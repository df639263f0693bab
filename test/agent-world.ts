// An agent whose turns are taken one by one: its state is kept as a gateway keeps it, its planner follows a script, and
// its clock is set by the test.
import { expect } from "vitest";
import { type AgentHints, hintContext } from "../src/contracts/gateway/agent/agent-hints.ts";
import type { PluginRequest } from "../src/contracts/gateway/protocol/request.ts";
import type { LogEntry, OkResponse, PluginResponse } from "../src/contracts/gateway/protocol/response.ts";
import { isMap, type JsonMap } from "../src/contracts/json.ts";
import type { FrameInput, PlanInput, Planner, ReflectInput } from "../src/gateway/agent/planner/planner.ts";
import { type ScriptedPlannerStep, scriptedPlanner } from "../src/gateway/agent/planner/scripted-planner.ts";
import type { RoutableTool } from "../src/gateway/agent/tools.ts";
import { takeTurn } from "../src/gateway/agent/turn.ts";
import type { TurnPorts } from "../src/gateway/agent/turn-ports.ts";
import { type MemoryWorkspaces, memoryWorkspaces } from "../src/gateway/agent/workspace/memory-workspaces.ts";
import type { AgentWorkspaces } from "../src/gateway/agent/workspace/workspace.ts";

export type Asked =
  | { readonly phase: "frame"; readonly input: FrameInput }
  | { readonly phase: "plan"; readonly input: PlanInput }
  | { readonly phase: "reflect"; readonly input: ReflectInput };

export type AgentWorld = {
  readonly state: JsonMap;
  /** What the planner was asked so far, in order. */
  readonly asked: readonly Asked[];
  readonly workspaces: MemoryWorkspaces;
  now: Date;
  config: JsonMap;
  ports: Partial<TurnPorts>;
  /** What the gateway tells with every request. */
  hints: AgentHints;
  /** The stored run; R1 unless given. */
  run(id?: string): JsonMap;
  /** Takes a turn, and stores what it leaves. */
  take(request: Partial<PluginRequest>): Promise<PluginResponse>;
  /** The same without storing anything: a turn whose commit was lost. */
  lose(request: Partial<PluginRequest>): Promise<PluginResponse>;
  event(type: string, payload: JsonMap, context?: JsonMap, job_id?: string): Promise<PluginResponse>;
  start(payload?: JsonMap): Promise<PluginResponse>;
  /** A typed result for R1. */
  result(step: number, tool: string, more?: JsonMap): Promise<PluginResponse>;
};

export const fetchPage = { tool: "fetch", tool_payload: { url: "http://example.test" } };
export const askFabric = { tool: "fabric", tool_payload: { prompt: "Write two paragraphs." } };
export const finish = { decision: "done", outcome: "Two paragraphs are written." } as const;

export function agentWorld({
  script = [fetchPage, askFabric, finish],
  planner = scriptedPlanner(script),
  config = {},
  tools = ["fetch", "fabric"],
  state = {},
  exists = () => true,
  workspaces: otherWorkspaces,
}: {
  readonly script?: readonly ScriptedPlannerStep[];
  readonly planner?: Planner;
  readonly config?: JsonMap;
  /** Those that a pipeline listens to. */
  readonly tools?: readonly string[];
  readonly state?: JsonMap;
  readonly exists?: (path: string) => boolean;
  readonly workspaces?: AgentWorkspaces;
} = {}): AgentWorld {
  const asked: Asked[] = [];
  const workspaces = memoryWorkspaces({ exists });
  let stored = state;
  let jobs = 0;
  const listening: Planner = {
    frame(input, options) {
      asked.push({ phase: "frame", input });
      return planner.frame(input, options);
    },
    plan(input, options) {
      asked.push({ phase: "plan", input });
      return planner.plan(input, options);
    },
    reflect(input, options) {
      asked.push({ phase: "reflect", input });
      return planner.reflect(input, options);
    },
  };

  const world: AgentWorld = {
    get state() {
      return stored;
    },
    asked,
    workspaces,
    now: new Date("2026-02-16T12:00:00Z"),
    config: { allowed_plugins: ["fetch", "fabric"], ...config },
    ports: {},
    hints: {},
    run(id = "R1") {
      const runs = isMap(stored.runs) ? stored.runs : {};
      const run = runs[id];
      if (!isMap(run)) throw new Error(`There is no run ${id}.`);
      return run as JsonMap;
    },
    async take(request) {
      const response = await world.lose(request);
      // Through JSON, as a store would have it.
      if (response.status === "ok") stored = JSON.parse(JSON.stringify({ ...stored, ...response.state_updates }));
      return response;
    },
    lose(request) {
      jobs += 1;
      return takeTurn(
        {
          protocol: 2,
          job_id: `J${jobs}`,
          command: "handle",
          config: world.config,
          state: stored,
          deadline_at: "2026-02-16T12:02:00Z",
          ...request,
          context: { ductile_plugin: "agentic-loop", ...request.context, ...hintContext(world.hints) },
        },
        {
          planner: listening,
          workspaces: otherWorkspaces ?? workspaces,
          clock: () => world.now,
          routableTools: new Map(tools.map((name): [string, RoutableTool] => [name, { plugins: [name], jobs: 2 }])),
          agentNames: new Set(["agentic-loop", "second-agent"]),
          ...world.ports,
        },
      );
    },
    event: (type, payload, context = {}, job_id) =>
      world.take({ ...(job_id && { job_id }), ...eventRequest(type, payload, context) }),
    start: (payload = { goal: "Write a critique.", run_id: "R1" }) => world.event("agentic.start", payload),
    result: (step, tool, more = {}) =>
      world.event("agentic.tool_result", {
        run_id: "R1",
        step,
        tool,
        status: "ok",
        result: { text: "a page" },
        ...more,
      }),
  };
  return world;
}

/** The part of a request that an event makes up. */
export function eventRequest(type: string, payload: JsonMap, context: JsonMap = {}): Partial<PluginRequest> {
  const about = {
    source: "fetch",
    timestamp: "2026-02-16T12:00:05Z",
    event_id: "11111111-1111-5111-8111-111111111111",
  };
  const event = { type, payload: { ...context, ...payload }, ...about };
  return { event, context: { ductile_plugin: "agentic-loop", ...context } };
}

/** The context behind a request for R1. */
export function pipelineContext(step: number, tool: string, attempt = 1): JsonMap {
  const instance = { ductile_pipeline: `agentic-tool-${tool}`, ductile_step_id: "resume" };
  return { ...instance, run_id: "R1", step, tool, tool_command: "handle", attempt, agent: "agentic-loop" };
}

export function answered(response: PluginResponse): OkResponse {
  if (response.status === "ok") return response;
  throw new Error(`The turn failed: ${response.error}`);
}

/** The one event of a turn. */
export function eventOf(response: PluginResponse): {
  readonly type: string;
  readonly payload: JsonMap;
  readonly dedupe_key?: string;
} {
  const [event, ...others] = answered(response).events;
  if (!event || others.length > 0) throw new Error(`The turn has emitted ${answered(response).events.length} events.`);
  return event;
}

/** What a turn says that changes nothing: no events and no state, and a line at this level. */
export function ignored(level: LogEntry["level"]): object {
  return { status: "ok", result: expect.any(String), events: [], logs: [{ level, message: expect.any(String) }] };
}

export function mostSevere({ logs }: PluginResponse): string {
  const levels = ["debug", "info", "warn", "error"];
  return levels[Math.max(...logs.map(({ level }) => levels.indexOf(level)))] ?? "";
}
