// Which finished runs are no longer kept: the state of a plugin has a limit, and so has a disk.
import { byteLength } from "../../contracts/canonical-json.ts";
import { type AgentRun, readRuns } from "../../contracts/gateway/agent/agentic-run.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { AgentConfig } from "./agent-config.ts";

/** Half of what the gateway lets a plugin store: goals and outcomes may be long. */
const MOST_BYTES = 512 * 1024;

export type EndedRunEntry = { readonly id: string; readonly run: AgentRun };

/**
 * Ended runs that are too old, too many or take too much room, the oldest first; none when pruning is switched off. Those
 * of `changed` stay for now: what a turn says of a run has to be there when it is read.
 */
export function runsToPrune(
  runs: JsonMap,
  { config, now, changed }: { readonly config: AgentConfig; readonly now: Date; readonly changed: ReadonlySet<string> },
): readonly EndedRunEntry[] {
  const { run_retention_ms, max_terminal_runs } = config;
  if (run_retention_ms === null && max_terminal_runs === null) return [];
  const ended = readRuns({ runs })
    .filter(({ run }) => run.status !== "running")
    .sort((left, right) => endOf(left) - endOf(right));
  const isExpired = (entry: EndedRunEntry) =>
    run_retention_ms !== null && now.getTime() - endOf(entry) > run_retention_ms;
  const surplus = max_terminal_runs === null ? 0 : ended.length - max_terminal_runs;
  let bytes = byteLength(JSON.stringify(runs));
  return ended.filter((entry, index) => {
    const goes = !changed.has(entry.id) && (isExpired(entry) || index < surplus || bytes > MOST_BYTES);
    if (goes) bytes -= byteLength(JSON.stringify(entry.run));
    return goes;
  });
}

/** A run whose time cannot be read counts as old. */
function endOf({ run }: EndedRunEntry): number {
  return Date.parse(run.updated_at) || 0;
}
