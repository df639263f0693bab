// What must hold of every thread that has come to rest, however often its process was cut off: read from what is stored.
import { isMap } from "../contracts/json.ts";
import { unpackRecords } from "../loop/packed-records.ts";
import type { LogRecord } from "../loop/records.ts";
import { firstBrokenEvent, type ThreadExport } from "../threads/export.ts";
import type { ThreadMessage } from "../threads/thread.ts";
import { deeperMessages } from "./deeper-messages.ts";

/** A sentence for everything that is not as promised. */
export function checkThread(exported: ThreadExport, messages: readonly ThreadMessage[]): readonly string[] {
  const mayWait = exported.thread.status === "waiting";
  const spoken = Map.groupBy(deeperMessages(exported), ({ parent_seq }) => parent_seq);
  return [
    ...checkStored(exported),
    ...checkRuns(exported),
    ...checkCalls(exported),
    ...checkResults(messages, mayWait),
    ...[...spoken.values()].flatMap((said) => checkResults(said, mayWait)),
  ];
}

/** The log is whole, and nothing is left to do. */
function checkStored(exported: ThreadExport): string[] {
  const problems: string[] = [];
  const { thread, requests } = exported;
  const broken = firstBrokenEvent(exported);
  if (broken !== undefined) problems.push(`the chain of its log breaks at event ${broken}`);
  if (thread.status === "stuck" || thread.status === "running") problems.push(`it is ${thread.status}`);
  // A child that nobody has set the variables for may wait for ever: no run waits with it.
  const ofRuns = requests.filter(({ kind }) => kind !== "variables");
  const open = ofRuns.filter(({ status }) => status === "pending" || status === "answered").length;
  if (open > (thread.status === "waiting" ? 1 : 0)) problems.push(`${open} requests are not settled`);
  return problems;
}

/** Every run has begun once and ended once; the last one may wait for somebody. */
function checkRuns({ events, runs, thread }: ThreadExport): string[] {
  const problems: string[] = [];
  if (runs.map(({ run }) => run).join() !== Array.from({ length: thread.run }, (_, index) => index + 1).join()) {
    problems.push(`there are runs ${runs.map(({ run }) => run)}, and it counts ${thread.run}`);
  }
  for (const { run, outcome, ended_at } of runs) {
    const records = events.filter((event) => event.run === run).flatMap((event) => unpackRecords(event.records));
    const count = (type: string) => (records as LogRecord[]).filter(({ fact }) => fact.type === type).length;
    const isOpen = thread.status === "waiting" && run === thread.run;
    if (!isOpen && (outcome === null || ended_at === null)) problems.push(`run ${run} has no outcome`);
    if (count("flow.started") !== 1 || count("flow.ended") !== (isOpen ? 0 : 1)) {
      problems.push(`run ${run} began ${count("flow.started")} times and ended ${count("flow.ended")} times`);
    }
  }
  return problems;
}

/** Every call is settled or visibly unknown, and has a key of its own. */
function checkCalls({ calls, thread }: ThreadExport): string[] {
  const problems: string[] = [];
  for (const { phase, number, tool_name } of calls) {
    const isOver = phase === "settled" || phase === "unknown" || (phase === "waiting" && thread.status === "waiting");
    if (!isOver) problems.push(`call ${number} of ${tool_name} is ${phase}`);
  }
  const keys = new Set(calls.map(({ idempotency_key }) => idempotency_key));
  if (keys.size !== calls.length) problems.push("two calls share a key");
  return problems;
}

/** Every call has one result with its id, before the model speaks again. */
function checkResults(messages: readonly ThreadMessage[], mayWait: boolean): string[] {
  const problems: string[] = [];
  const open = new Set<string>();
  for (const { seq, step, message } of messages) {
    const { tool_call_id } = isMap(message.metadata) ? message.metadata : {};
    const id = String(tool_call_id);
    if (message.type === "tool_call") open.add(id);
    else if (message.type === "tool_result" && !open.delete(id)) problems.push(`message ${seq} answers no open call`);
    else if (message.type === "text" && message.role !== "system" && open.size > 0) {
      problems.push(`message ${seq} of step ${step} comes while ${open.size} calls have no result`);
    }
  }
  if (open.size > 0 && !mayWait) problems.push(`${open.size} calls have no result`);
  return problems;
}
