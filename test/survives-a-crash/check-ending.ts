// What must hold of every thread once its scenario has come to its end, however often it was cut off: the promises,
// read from the database and from what happened outside.
import { sortedText } from "../../src/contracts/canonical-json.ts";
import { unpackRecords } from "../../src/loop/packed-records.ts";
import { fold } from "../../src/loop/state.ts";
import { checkThread } from "../../src/testing/check-thread.ts";
import { deeperMessages } from "../../src/testing/deeper-messages.ts";
import type { RecordedEffect } from "../../src/testing/effect-ledger.ts";
import type { ThreadExport } from "../../src/threads/export.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { type Database, type StoredRow, storedRow } from "./database.ts";
import { toolKinds } from "./effect-tools.ts";
import type { Ending } from "./scenario.ts";
import { differences, transcriptLines } from "./transcript-lines.ts";

/** A sentence for everything that is not as promised. */
export async function checkEnding(
  thread: ThreadHandle,
  { status, transcript, calls = {}, files = [] }: Ending,
  { database, effects }: { readonly database: Database; readonly effects: readonly RecordedEffect[] },
): Promise<readonly string[]> {
  const exported = await thread.export();
  const messages = await thread.messages();
  const row = await storedRow(database, thread.id);
  const lines = transcriptLines([...messages, ...deeperMessages(exported)]);
  const problems = [
    ...(exported.thread.status === status ? [] : [`it is ${exported.thread.status}, not ${status}`]),
    ...(typeof transcript === "function" ? transcript(lines) : differences(lines, transcript)),
    ...checkThread(exported, messages),
    ...checkRow(exported, row),
    ...checkCalls(exported, calls),
    ...checkFiles(await filesOf(thread), files),
    ...checkEffects(
      exported,
      effects.filter((effect) => effect.thread === thread.id),
    ),
  ];
  return problems.map((problem) => `${thread.key}: ${problem}`);
}

/** The log leads to the stored state, and nothing is left to do. */
function checkRow({ events, thread }: ThreadExport, row: StoredRow | undefined): string[] {
  const problems: string[] = [];
  const records = events.filter(({ run }) => run === thread.run).flatMap((event) => unpackRecords(event.records));
  if (thread.run > 0 && sortedText(fold(records)) !== sortedText(JSON.parse(row?.state ?? "null"))) {
    problems.push("its records do not lead to its state");
  }
  if (row?.waiting !== 0) problems.push(`${row?.waiting} entries are left in its inbox`);
  if (row?.stuck_at !== null) problems.push("it is stuck");
  return problems;
}

function checkCalls({ calls }: ThreadExport, wanted: Readonly<Record<string, number>>): string[] {
  const problems: string[] = [];
  for (const [tool, count] of Object.entries(wanted)) {
    const found = calls.filter(({ tool_name }) => tool_name === tool).length;
    if (found !== count) problems.push(`${tool} was called ${found} times, not ${count}`);
  }
  for (const { tool_name, phase, number } of calls) {
    const mayBeUnknown = toolKinds[tool_name] === "plain";
    if (phase === "unknown" && !mayBeUnknown) problems.push(`call ${number} of ${tool_name} is unknown`);
  }
  return problems;
}

/** Name and content of each. */
async function filesOf(thread: ThreadHandle): Promise<readonly string[]> {
  const state = await thread.state();
  const found = (await state.findFiles("/**")).filter(({ isDirectory }) => !isDirectory);
  const lines = found.map(async ({ name, path }) => {
    const bytes = await state.readFile(path);
    return `${name}: ${bytes ? new TextDecoder().decode(bytes) : "cannot be read"}`;
  });
  return (await Promise.all(lines)).sort();
}

function checkFiles(found: readonly string[], wanted: readonly string[]): string[] {
  return String(found) === String(wanted) ? [] : [`its files are [${found.join(", ")}], not [${wanted.join(", ")}]`];
}

/** What happened outside is what the ledger of calls says, key by key. */
function checkEffects({ calls }: ThreadExport, effects: readonly RecordedEffect[]): string[] {
  const problems: string[] = [];
  const keys = new Set<string | undefined>(calls.map(({ idempotency_key }) => idempotency_key));
  for (const { key, name } of effects) if (!keys.has(key)) problems.push(`"${name}" happened, and no call is known`);
  for (const { idempotency_key, tool_name, phase, outcome } of calls) {
    const kind = toolKinds[tool_name];
    if (!kind) continue;
    const own = effects.filter(({ key }) => key === idempotency_key);
    const count = own.reduce((sum, { times }) => sum + times, 0);
    const isDone = phase === "settled" && outcome === "success";
    const fewest = isDone ? 1 : 0;
    const most = kind === "idempotent" ? Number.POSITIVE_INFINITY : 1;
    if (count < fewest || count > most) problems.push(`${tool_name} (${outcome}) happened ${count} times`);
  }
  return problems;
}
