// The reaper: a run whose tool has not answered for too long is escalated.
import { type AgentRun, pendingSince, type RunningRun, readRuns } from "../../contracts/gateway/agent/agentic-run.ts";
import type { EmittedEvent } from "../../contracts/gateway/protocol/event.ts";
import type { LogEntry, OkResponse } from "../../contracts/gateway/protocol/response.ts";
import { answer, logLine } from "./answer.ts";
import { escalateRun, traceEnd } from "./end-run.ts";
import type { Turn } from "./turn-ports.ts";

export async function poll(turn: Turn): Promise<OkResponse> {
  const running = readRuns(turn.state, turn.config).flatMap(({ id, run }) =>
    run.status === "running" ? [{ id, run }] : [],
  );
  const events: EmittedEvent[] = [];
  const logs: LogEntry[] = [];
  const changed: Record<string, AgentRun> = {};
  for (const { id, run } of running) {
    if (!isOverdue(turn, id, run)) continue;
    const { pending_step: step, pending_tool: tool, pending_since } = run;
    const about = { step, tool, pending_since };
    const change = escalateRun(turn, { run_id: id, step, tool }, run, { reason: "pending_timeout", ...about });
    logs.push(...change.logs, ...(await traceEnd(turn, change, run, "pending_timeout")));
    events.push(change.event);
    changed[id] = change.run;
  }
  const result = `${running.length} running, ${events.length} escalated`;
  return await answer(turn, { result, events, logs: [logLine("info", {}, `poll: ${result}`), ...logs] }, changed, {
    last_poll: turn.now,
  });
}

function isOverdue({ now, config, hints }: Turn, id: string, run: RunningRun): boolean {
  const waited = Date.parse(now) - pendingSince(run).getTime();
  return waited - (hints.pausedMs?.get(id) ?? 0) > config.pending_timeout_ms;
}
