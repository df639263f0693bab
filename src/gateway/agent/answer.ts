// How a turn ends: what it stores, what it emits and what it logs. Every answer of an agent is made here.

import { errorMessage, HoldfastError } from "../../contracts/error.ts";
import { type AgentRun, storedRuns } from "../../contracts/gateway/agent/agentic-run.ts";
import type { EmittedEvent } from "../../contracts/gateway/protocol/event.ts";
import type { ErrorResponse, LogEntry, LogLevel, OkResponse } from "../../contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { runsToPrune } from "./prune.ts";
import type { Turn } from "./turn-ports.ts";
import type { NoteFile, RunWorkspace, TraceLine } from "./workspace/workspace.ts";

/** What a log line is about. Every line about a run names it; those about a step name step and tool too. */
export type LogSubject = { readonly run_id?: string; readonly step?: number; readonly tool?: string };

export function logLine(level: LogLevel, subject: LogSubject, text: string): LogEntry {
  const names = Object.entries(subject).map(
    ([key, value]) => `${key}=${typeof value === "string" ? quoted(value) : value}`,
  );
  return { level, message: [...names, text].join(" ") };
}

/** Names as they are; anything that could be mistaken for more than one word in quotes. */
export function quoted(value: string): string {
  return /^[\w.:/-]{1,200}$/.test(value) ? value : JSON.stringify(value.slice(0, 200).toWellFormed());
}

/** An input that changes nothing. */
export function ignore(level: "info" | "warn", subject: LogSubject, text: string): OkResponse {
  return { status: "ok", result: `ignored: ${text}`, events: [], logs: [logLine(level, subject, text)] };
}

/** An input that no repetition would make right. */
export function refuse(subject: LogSubject, text: string): ErrorResponse {
  return { status: "error", error: text, retry: false, logs: [logLine("error", subject, text)] };
}

/** What a turn has made of one run. */
export type RunChange = {
  readonly id: string;
  readonly run: AgentRun;
  readonly event: EmittedEvent;
  readonly result: string;
  readonly logs: readonly LogEntry[];
};

/** What a turn leaves in the workspace of its run. */
export type Notes = {
  readonly files: { readonly [file in NoteFile]?: string };
  readonly trace: readonly TraceLine[];
};

export function traceLine(turn: Turn, line: Omit<TraceLine, "ts" | "job_id">): TraceLine {
  const { now, request } = turn;
  const { summary, ...rest } = line;
  return {
    ts: now,
    ...rest,
    job_id: request.job_id,
    summary: summary.replace(/\s+/g, " ").trim().slice(0, 500).toWellFormed(),
  };
}

/** Ends a turn that has changed one run: its notes are written, then it answers. */
export async function answerChange(
  turn: Turn,
  workspace: RunWorkspace,
  change: RunChange,
  notes: Notes,
  extra: JsonMap = {},
): Promise<OkResponse> {
  // Another process may be repeating the turn: two at a time must not write the files of a run.
  turn.ports.signal?.throwIfAborted();
  for (const [file, content] of Object.entries(notes.files)) await workspace.write(file as NoteFile, content);
  if (notes.trace.length > 0) await workspace.appendTrace(turn.request.job_id, notes.trace);
  const { id, run, event, result, logs } = change;
  return await answer(turn, { result, events: [event], logs }, { [id]: run }, extra);
}

/** Stores the changed runs without those that are no longer kept. */
export async function answer(
  turn: Turn,
  said: Pick<OkResponse, "result" | "events" | "logs">,
  changed: Readonly<Record<string, AgentRun>>,
  extra: JsonMap = {},
): Promise<OkResponse> {
  turn.ports.signal?.throwIfAborted();
  const runs = { ...storedRuns(turn.state), ...changed };
  const { kept, logs } = await pruned(turn, runs, new Set(Object.keys(changed)));
  const hasChanged = Object.keys(changed).length > 0 || Object.keys(kept).length < Object.keys(runs).length;
  return {
    status: "ok",
    result: said.result,
    events: said.events,
    state_updates: { ...(hasChanged && { runs: kept }), ...extra },
    logs: [...said.logs, ...logs],
  };
}

async function removeWorkspace({ ports }: Turn, { workspace_ref }: AgentRun): Promise<"removed" | "unknown"> {
  try {
    return await ports.workspaces.remove(workspace_ref);
  } catch (thrown) {
    // A reference that names no folder leaves nothing to remove.
    if (thrown instanceof HoldfastError && thrown.code === "invalid_argument") return "removed";
    throw thrown;
  }
}

async function pruned(
  turn: Turn,
  runs: JsonMap,
  changed: ReadonlySet<string>,
): Promise<{ readonly kept: JsonMap; readonly logs: readonly LogEntry[] }> {
  const gone = new Set<string>();
  const logs: LogEntry[] = [];
  for (const { id, run } of runsToPrune(runs, { config: turn.config, now: new Date(turn.now), changed })) {
    try {
      if ((await removeWorkspace(turn, run)) === "unknown") continue;
      gone.add(id);
      logs.push(logLine("info", { run_id: id }, `removed: the run is ${run.status} and no longer kept`));
    } catch (thrown) {
      // The run stays until its files can be removed: nothing else would ever find them again.
      logs.push(logLine("warn", { run_id: id }, `its workspace cannot be removed: ${errorMessage(thrown)}`));
    }
  }
  return { kept: Object.fromEntries(Object.entries(runs).filter(([id]) => !gone.has(id))), logs };
}
