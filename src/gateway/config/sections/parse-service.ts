// The `service`, `api` and `state` blocks.
import { resolve } from "node:path";
import { DEDUPE_TTL_MS } from "../../../contracts/gateway/dedupe.ts";
import { isVariableName } from "../environment.ts";
import type { GatewayConfig, ServiceSettings } from "../gateway-config.ts";
import { LONGEST_TIMER_MS, type Section } from "./section.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Scheduling more often than this would only cost. */
export const SHORTEST_TICK_MS = 100;

export function parseService(service: Section, folder: string): ServiceSettings {
  const workspaceRoot = service.text("workspace_root");
  refuseUnsupported(service);
  return {
    name: service.text("name") ?? "gateway",
    tick_interval_ms: readTick(service),
    ...readRetention(service),
    max_workers: service.count("max_workers") ?? 1,
    strict_protocol: readStrictness(service),
    exit_code_policy: service.choice("exit_code_policy", ["strict", "envelope"]) ?? "strict",
    allow_symlinks: service.flag("allow_symlinks") ?? false,
    plugin_env_passthrough: readPassthrough(service),
    max_tree_jobs: service.count("max_tree_jobs") ?? null,
    hook_max_depth: service.count("hook_max_depth", { least: 0 }) ?? 4,
    workspace_root: workspaceRoot === undefined ? null : resolve(folder, workspaceRoot),
  };
}

export function parseApi(api: Section): GatewayConfig["api"] {
  const host: Readonly<Record<string, string>> = {
    enabled: "Holdfast's server answers for the gateway whenever it runs (holdfast serve)",
    listen: "set it with holdfast serve --host and --port",
    auth: "make tokens with holdfast tokens create",
  };
  for (const [key, where] of Object.entries(host)) belongsToHost(api, key, where);
  return {
    max_concurrent_sync: api.count("max_concurrent_sync") ?? 10,
    max_sync_timeout_ms: api.duration("max_sync_timeout", { most: LONGEST_TIMER_MS }) ?? 5 * MINUTE,
  };
}

/** A setting of the reference that Holdfast has elsewhere. */
export function belongsToHost(section: Section, key: string, where: string): void {
  if (section.node(key) !== undefined) section.warning(key, `has no effect: ${where}.`);
}

function readTick(service: Section): number {
  const tick = service.duration("tick_interval", { most: LONGEST_TIMER_MS }) ?? MINUTE;
  if (tick < SHORTEST_TICK_MS)
    service.warning("tick_interval", `is shorter than ${SHORTEST_TICK_MS}ms, which is taken.`);
  return Math.max(tick, SHORTEST_TICK_MS);
}

function readRetention(service: Section) {
  const dedupe_ttl_ms = service.duration("dedupe_ttl") ?? DEDUPE_TTL_MS;
  const job_queue_retention_ms = service.duration("job_queue_retention") ?? DAY;
  if (job_queue_retention_ms < dedupe_ttl_ms) {
    const key = service.node("job_queue_retention") === undefined ? "dedupe_ttl" : "job_queue_retention";
    const sentence =
      key === "dedupe_ttl"
        ? "is longer than job_queue_retention (24h unless it is set); set that to at least as much."
        : "has to be at least dedupe_ttl, because duplicates are looked up among the jobs that are kept.";
    service.problem(key, sentence);
  }
  return {
    dedupe_ttl_ms,
    job_queue_retention_ms,
    job_log_retention_ms: service.duration("job_log_retention") ?? 30 * DAY,
    event_retention_ms: service.duration("event_retention") ?? 7 * DAY,
  };
}

/** `strict_mode` is the older name. */
function readStrictness(service: Section): boolean {
  const [mode, protocol] = [service.flag("strict_mode"), service.flag("strict_protocol")];
  if (mode !== undefined && protocol !== undefined && mode !== protocol) {
    service.problem("strict_mode", "means the same as strict_protocol, and both are set differently; leave one out.");
  }
  return protocol ?? mode ?? false;
}

function readPassthrough(service: Section): string[] {
  const names = service.texts("plugin_env_passthrough") ?? [];
  if (names.some(({ text }) => !isVariableName(text))) {
    service.problem("plugin_env_passthrough", "takes a list of names of environment variables.");
  }
  return names.map(({ text }) => text);
}

function refuseUnsupported(service: Section): void {
  belongsToHost(service, "log_level", "Holdfast writes one log; see holdfast serve --log");
  if (service.choice("context_mode", ["explicit", "accumulate"]) === "accumulate") {
    service.problem("context_mode", "accumulate is not supported: claim with baggage what a pipeline carries along.");
  }
}
