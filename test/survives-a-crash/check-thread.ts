// What must hold of every thread once its scenario has come to its end, however often it was cut off: the promises,
// read from the database and from what arrived outside.
import { sortedText } from "../../src/contracts/canonical-json.ts";
import { isMap } from "../../src/contracts/json.ts";
import type { LogRecord } from "../../src/loop/records.ts";
import { fold } from "../../src/loop/state.ts";
import { firstBrokenEvent, type ThreadExport } from "../../src/threads/export.ts";
import type { ThreadHandle, ThreadMessage } from "../../src/threads/thread.ts";
import { type Database, type StoredRow, storedRow } from "./database.ts";
import type { Arrival } from "./effect-ledger.ts";
import { toolKinds } from "./effect-tools.ts";
import type { Ending } from "./scenario.ts";
import { differences, transcriptLines } from "./transcript-lines.ts";

/** A sentence for everything that is not as promised. */
export async function checkThread(
  thread: ThreadHandle,
  { status, transcript, calls = {} }: Ending,
  { database, arrivals }: { readonly database: Database; readonly arrivals: readonly Arrival[] },
): Promise<readonly string[]> {
  const exported = await thread.export();
  const messages = await thread.messages();
  const row = await storedRow(database, thread.id);
  const lines = transcriptLines(messages);
  const problems = [
    ...(exported.thread.status === status ? [] : [`it is ${exported.thread.status}, not ${status}`]),
    ...(typeof transcript === "function" ? transcript(lines) : differences(lines, transcript)),
    ...checkStored(exported, row),
    ...checkRuns(exported),
    ...checkResults(messages),
    ...checkCalls(exported, calls),
    ...checkArrivals(exported, arrivals),
  ];
  return problems.map((problem) => `${thread.key}: ${problem}`);
}

/** The log is whole, it leads to the stored state, and nothing is left to do. */
function checkStored(exported: ThreadExport, row: StoredRow | undefined): string[] {
  const problems: string[] = [];
  const broken = firstBrokenEvent(exported);
  if (broken !== undefined) problems.push(`the chain breaks at event ${broken}`);
  const { events, thread, requests } = exported;
  const records = events.filter(({ run }) => run === thread.run).flatMap((event) => JSON.parse(event.records));
  if (thread.run > 0 && sortedText(fold(records)) !== sortedText(JSON.parse(row?.state ?? "null"))) {
    problems.push("its records do not lead to its state");
  }
  if (row?.waiting !== 0) problems.push(`${row?.waiting} entries are left in its inbox`);
  if (row?.stuck_at !== null) problems.push("it is stuck");
  const pending = requests.filter(({ status }) => status === "pending" || status === "answered");
  if (pending.length > 0) problems.push(`${pending.length} requests are not settled`);
  return problems;
}

/** Every run has begun once and ended once. */
function checkRuns({ events, runs, thread }: ThreadExport): string[] {
  const problems: string[] = [];
  if (runs.map(({ run }) => run).join() !== Array.from({ length: thread.run }, (_, index) => index + 1).join()) {
    problems.push(`there are runs ${runs.map(({ run }) => run)}, and it counts ${thread.run}`);
  }
  for (const { run, outcome, ended_at } of runs) {
    const records = events.filter((event) => event.run === run).flatMap((event) => JSON.parse(event.records));
    const count = (type: string) => (records as LogRecord[]).filter(({ fact }) => fact.type === type).length;
    if (outcome === null || ended_at === null) problems.push(`run ${run} has no outcome`);
    if (count("flow.started") !== 1 || count("flow.ended") !== 1) {
      problems.push(`run ${run} began ${count("flow.started")} times and ended ${count("flow.ended")} times`);
    }
  }
  return problems;
}

/** Every call has one result with its id, before the model speaks again. */
function checkResults(messages: readonly ThreadMessage[]): string[] {
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
  if (open.size > 0) problems.push(`${open.size} calls have no result`);
  return problems;
}

function checkCalls({ calls }: ThreadExport, wanted: Readonly<Record<string, number>>): string[] {
  const problems: string[] = [];
  for (const [tool, count] of Object.entries(wanted)) {
    const found = calls.filter(({ tool_name }) => tool_name === tool).length;
    if (found !== count) problems.push(`${tool} was called ${found} times, not ${count}`);
  }
  for (const { tool_name, phase, number } of calls) {
    const isPlain = toolKinds[tool_name] === "plain";
    if (phase !== "settled" && !(phase === "unknown" && isPlain)) {
      problems.push(`call ${number} of ${tool_name} is ${phase}`);
    }
  }
  return problems;
}

/** What arrived outside is what the ledger of calls says, key by key. */
function checkArrivals({ calls }: ThreadExport, arrivals: readonly Arrival[]): string[] {
  const problems: string[] = [];
  const keys = new Set(calls.map(({ idempotency_key }) => idempotency_key));
  if (keys.size !== calls.length) problems.push("two calls share a key");
  for (const { key, what } of arrivals) if (!keys.has(key)) problems.push(`"${what}" arrived, and no call is known`);
  for (const { idempotency_key, tool_name, phase, outcome } of calls) {
    const kind = toolKinds[tool_name];
    if (!kind) continue;
    const count = arrivals.filter(({ key }) => key === idempotency_key).length;
    const isDone = phase === "settled" && outcome === "success";
    const fewest = isDone ? 1 : 0;
    const most = kind === "idempotent" ? Number.POSITIVE_INFINITY : 1;
    if (count < fewest || count > most) problems.push(`${tool_name} (${outcome}) arrived ${count} times`);
  }
  return problems;
}
