// What an agent is configured with, every default in place. A value that cannot be used counts as absent.
import { nonBlank } from "../../contracts/coerce.ts";
import { defaultRunLimits } from "../../contracts/gateway/agent/agentic-run.ts";
import { parseDuration } from "../../contracts/gateway/durations.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";

export type AgentConfig = {
  /** The most steps of one run; its start may lower it. */
  readonly max_steps: number;
  readonly max_reframes: number;
  /** Requests of one step, the first included. */
  readonly max_attempts_per_step: number;
  /** `strict` ends a run at its last step whatever came of it; `allow_final` lets the planner judge that step. */
  readonly max_steps_mode: "strict" | "allow_final";
  readonly allowed_plugins: ReadonlySet<string>;
  /** From a tool to the name that selects its pipeline, where the two differ. */
  readonly tool_routes: ReadonlyMap<string, string>;
  readonly default_tool: string | null;
  readonly default_tool_command: string;
  readonly pending_timeout_ms: number;
  /** Null keeps finished runs for ever. */
  readonly run_retention_ms: number | null;
  readonly max_terminal_runs: number | null;
};

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export function readAgentConfig(config: JsonMap): AgentConfig {
  return {
    max_steps: wholeFrom1(config.max_steps) ?? wholeFrom1(config.max_loops) ?? defaultRunLimits.max_steps,
    max_reframes: wholeFrom1(config.max_reframes) ?? defaultRunLimits.max_reframes,
    max_attempts_per_step: wholeFrom1(config.max_attempts_per_step) ?? 2,
    max_steps_mode: config.max_steps_mode === "allow_final" ? "allow_final" : "strict",
    allowed_plugins: new Set(readNames(config.allowed_plugins)),
    tool_routes: readRoutes(config.tool_routes),
    default_tool: nonBlank(config.default_tool) ?? null,
    default_tool_command: nonBlank(config.default_tool_command) ?? "handle",
    pending_timeout_ms: milliseconds(config.pending_timeout) ?? 15 * MINUTE_MS,
    run_retention_ms: config.run_retention === null ? null : (milliseconds(config.run_retention) ?? 7 * DAY_MS),
    max_terminal_runs: config.max_terminal_runs === null ? null : (wholeFrom1(config.max_terminal_runs) ?? 200),
  };
}

/** The step budget of a run whose start asks for one: never above the agent's own. */
export function stepBudget({ max_steps }: AgentConfig, context: JsonMap): number {
  const asked = wholeFrom1(context.max_steps) ?? wholeFrom1(context.max_loops);
  return Math.min(max_steps, asked ?? max_steps);
}

/** Names in a list, without the space around them; nothing for anything else. */
export function readNames(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((name) => nonBlank(name) ?? []);
}

function readRoutes(value: unknown): ReadonlyMap<string, string> {
  const routes = Object.entries(isMap(value) ? value : {}).flatMap(([tool, route]): [string, string][] => {
    const target = nonBlank(route);
    return target === undefined ? [] : [[tool.trim(), target]];
  });
  return new Map(routes);
}

function wholeFrom1(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1 ? value : undefined;
}

function milliseconds(value: unknown): number | undefined {
  const duration = parseDuration(value);
  return duration !== undefined && duration > 0 ? duration : undefined;
}
