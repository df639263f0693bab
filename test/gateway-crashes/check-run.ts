// What must hold of agent runs: of their state at any moment, and of their files and events at the end.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentRun, readRuns } from "../../src/contracts/gateway/agent/agentic-run.ts";
import { isMap, type JsonMap } from "../../src/contracts/json.ts";
import type { Reading } from "./reading.ts";

const AGENT = "agentic-loop";

/** A run that waits for a tool has a job under way that will answer it, and its state is one that a turn has left. */
export async function checkRunsAlways(reading: Reading): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { id, run } of readRuns(await reading.state(AGENT))) {
    problems.push(...checkState(run).map((problem) => `run ${id}: ${problem}`));
    const root = run.workspace_ref.replace(/^job:/, "");
    const tree = await reading.stores.jobs.tree(root);
    const isUnderWay = tree.some(({ status }) => status === "queued" || status === "running");
    if (run.status === "running" && !isUnderWay)
      problems.push(`run ${id} waits for ${run.pending_tool}, which no job is`);
  }
  return problems;
}

function checkState(run: AgentRun): string[] {
  const { status, step, completed_steps, pending_step, pending_tool, pending_since } = run;
  const problems: string[] = [];
  if (status === "running" && (pending_step !== step || pending_tool === "")) {
    problems.push(`it is at step ${step}, and step ${pending_step} of ${JSON.stringify(pending_tool)} is pending`);
  }
  if (status !== "running" && [pending_step, pending_tool, pending_since].some((value) => value !== null)) {
    problems.push(`it is ${status}, and ${pending_tool} is pending`);
  }
  const isSorted = String([...new Set(completed_steps)].sort((one, other) => one - other)) === String(completed_steps);
  if (!isSorted || completed_steps.some((each) => each < 1 || each > step)) {
    problems.push(`its steps ${completed_steps} are completed at step ${step}`);
  }
  return problems;
}

export type RunEnding = {
  readonly status: AgentRun["status"];
  /** Plugin and status of every job of the tree, in the order of the queue. */
  readonly tree: readonly string[];
  /** Phase and kind of every line of the trace. */
  readonly trace: readonly string[];
  /** Content of each, by its path in the workspace. */
  readonly artifacts?: Readonly<Record<string, string>>;
  /** Of the entry that ends the run in the stream. */
  readonly end: "agent.completed" | "agent.escalated";
};

/** Of the only run there is. */
export async function checkRun(reading: Reading, workspaces: string, ending: RunEnding): Promise<readonly string[]> {
  const runs = readRuns(await reading.state(AGENT));
  const [only] = runs;
  if (!only || runs.length > 1) return [`there are ${runs.length} runs`];
  const { run } = only;
  const root = run.workspace_ref.replace(/^job:/, "");
  const tree = await reading.stores.jobs.tree(root);
  const folder = join(workspaces, root);
  return [
    ...(await checkRunsAlways(reading)),
    ...different("the run", [run.status], [ending.status]),
    ...different(
      "the tree",
      tree.map(({ plugin, status }) => `${plugin} ${status}`),
      ending.tree,
    ),
    ...(await checkEvents(
      reading,
      tree.map(({ id }) => id),
      ending,
    )),
    ...(await checkTrace(folder, ending.trace)),
    ...(await checkArtifacts(folder, ending.artifacts ?? {})),
  ];
}

export function different(what: string, found: readonly string[], wanted: readonly string[]): string[] {
  if (String(found) === String(wanted)) return [];
  return [`${what} is ${found.join(", ") || "empty"}, not ${wanted.join(", ") || "empty"}`];
}

/** The end of the run is told once: by one event of one job, and by one entry of the stream. */
async function checkEvents(reading: Reading, jobs: readonly string[], { end }: RunEnding): Promise<readonly string[]> {
  const emitted: string[] = [];
  for (const id of jobs) emitted.push(...(await reading.emitted(id)));
  const isEnd = (type: string) => type === "agent.completed" || type === "agent.escalated";
  const entries = (await reading.stream()).map(({ type }) => type);
  const requested = emitted.filter((type) => type.startsWith("agentic.tool_request.")).length;
  const told = entries.filter((type) => type === "agent.step_requested").length;
  return [
    ...different("what ends the run among the events", emitted.filter(isEnd), [end]),
    ...different("what ends the run in the stream", entries.filter(isEnd), [end]),
    ...(requested === told ? [] : [`the stream tells ${told} of ${requested} requests`]),
  ];
}

/** Every line is whole, and stands there once. */
async function checkTrace(folder: string, wanted: readonly string[]): Promise<readonly string[]> {
  const text = await readFile(join(folder, "trace.jsonl"), "utf8");
  if (!text.endsWith("\n")) return ["the last line of the trace is incomplete"];
  const lines = text.slice(0, -1).split("\n").map(parsed);
  const whole = lines.flatMap((line) => (line ? [`${line.phase} ${line.kind}`] : ["not JSON"]));
  return different("the trace", whole, wanted);
}

function parsed(line: string): JsonMap | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isMap(value) ? (value as JsonMap) : undefined;
  } catch {
    return undefined;
  }
}

async function checkArtifacts(folder: string, wanted: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [path, content] of Object.entries(wanted)) {
    const found = await readFile(join(folder, path), "utf8").catch(() => "no file");
    if (found !== content) problems.push(`${path} holds ${JSON.stringify(found)}`);
  }
  return problems;
}
