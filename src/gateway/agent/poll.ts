// The reaper: a run whose tool has not answered for too long is escalated.

import { errorMessage } from "../../contracts/error.ts";
import { type AgentRun, pendingSince, type RunningRun, readRuns } from "../../contracts/gateway/agent/agentic-run.ts";
import type { EmittedEvent } from "../../contracts/gateway/protocol/event.ts";
import type { LogEntry, OkResponse } from "../../contracts/gateway/protocol/response.ts";
import { answer, logLine, type RunChange, traceLine } from "./answer.ts";
import { escalateRun } from "./end-run.ts";
import type { Turn } from "./turn-ports.ts";

export async function poll(turn: Turn): Promise<OkResponse> {
  const running = readRuns(turn.state, turn.config).flatMap(({ id, run }) =>
    run.status === "running" ? [{ id, run }] : [],
  );
  const events: EmittedEvent[] = [];
  const logs: LogEntry[] = [];
  const changed: Record<string, AgentRun> = {};
  for (const { id, run } of running) {
    if (!(await isOverdue(turn, run))) continue;
    const { pending_step: step, pending_tool: tool, pending_since } = run;
    const about = { step, tool, pending_since };
    const change = escalateRun(turn, { run_id: id, step, tool }, run, { reason: "pending_timeout", ...about });
    logs.push(...change.logs, ...(await traceTimeout(turn, change, run)));
    events.push(change.event);
    changed[id] = change.run;
  }
  const result = `${running.length} running, ${events.length} escalated`;
  return await answer(turn, { result, events, logs: [logLine("info", {}, `poll: ${result}`), ...logs] }, changed, {
    last_poll: turn.now,
  });
}

async function isOverdue(turn: Turn, run: RunningRun): Promise<boolean> {
  const { ports, config } = turn;
  const since = pendingSince(run);
  const waited = Date.parse(turn.now) - since.getTime();
  if (waited <= config.pending_timeout_ms) return false;
  return waited - ((await ports.pausedMs?.(since)) ?? 0) > config.pending_timeout_ms;
}

/** A workspace that cannot be written must not keep a run waiting for ever. */
async function traceTimeout(turn: Turn, { id }: RunChange, run: RunningRun): Promise<readonly LogEntry[]> {
  const { attempt, pending_step: step } = run;
  const about = { run_id: id, step, attempt, phase: "reflect", kind: "escalated", summary: "pending_timeout" } as const;
  try {
    await turn.ports.workspaces.of(run.workspace_ref).appendTrace(turn.request.job_id, [traceLine(turn, about)]);
    return [];
  } catch (thrown) {
    return [logLine("warn", { run_id: id, step, tool: run.pending_tool }, `not traced: ${errorMessage(thrown)}`)];
  }
}
