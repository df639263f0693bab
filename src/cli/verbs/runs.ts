// holdfast runs …: runs of workflows.
import type { JsonMap } from "../../contracts/json.ts";
import type { Client } from "../client.ts";
import { commandHere } from "../command-here.ts";
import { noteWaiting } from "../gateway/gateway-client.ts";
import { readMap } from "../read-option.ts";
import { exitCodeOf, exitCodes, Refusal } from "../refusal.ts";
import { actOnMany } from "../runs/many-runs.ts";
import { pageOf, queryOptions, runStatuses, runsQuery } from "../runs/query.ts";
import { inputOptions, inputsFor, readInputs } from "../runs/read-inputs.ts";
import { runInWords } from "../runs/step-words.ts";
import { drawnOnce, notSucceeded, resultOf, watchRun } from "../runs/watch-run.ts";
import { type Run, readTree, untilCarriedOn, type Watching } from "../runs/watching.ts";
import { noteMore, table } from "../terminal.ts";
import type { Verb, Work } from "../verb.ts";

const run = { "<run>": "the id of a run" };

const follow = { "--follow": "and watch how it goes on" };

export const runVerbs: readonly Verb[] = [
  {
    name: "runs list",
    summary: "runs of workflows, the newest first",
    options: {
      ...queryOptions,
      "--parent <run>": "only those that this run has started as parts of itself",
      "--limit <number>": "how many at most; 50 unless given",
      "--after <place>": "those after this place",
    },
    choices: { status: runStatuses },
    async run({ given, terminal, client }) {
      const input = { ...runsQuery(given), parent: given.parent, ...pageOf(given) };
      type Page = { readonly runs: readonly Run[]; readonly next?: string };
      const answer = await (await client()).call<Page>("holdfast/list-workflow-runs", input);
      terminal.answer(answer, ({ runs }) => {
        if (runs.length === 0) return "There are no runs.";
        const rows = runs.map(({ run_id, workflow_id, created_at, tags, ...each }) => [
          ...[run_id, workflow_id, runInWords(each), created_at, tags.join(" ")],
        ]);
        return table([["RUN", "WORKFLOW", "STATUS", "STARTED", "TAGS"], ...rows]);
      });
      noteMore(terminal, answer.next);
    },
  },
  {
    name: "runs show",
    summary: "how far a run is, why it does not go on or has failed, and what to type",
    takes: run,
    async run(work) {
      const { given, terminal, client: connect } = work;
      const client = await connect();
      const tree = await readTree(client, String(given.run));
      const record = await client.call("holdfast/get-workflow-run", { run_id: given.run });
      const explanation = await explained(client, given.run);
      terminal.answer({ record, tree, explanation }, () => [
        ...drawnOnce(tree, { terminal, typed: typedIn(work) }),
        ...(explanation === null ? [] : ["", explanation.sentence]),
        ...made("error", record.error),
        ...(tree.run.status === "succeeded" ? made("output", record.output) : []),
      ]);
    },
  },
  {
    name: "runs follow",
    summary: "watch a run until it has ended; exits with 0 when it has succeeded",
    takes: run,
    options: { "--after <event>": "through a pipe: only what came after that event" },
    async run(work) {
      const after = typeof work.given.after === "string" ? work.given.after : undefined;
      await watch(work, String(work.given.run), after);
    },
  },
  {
    name: "runs cancel",
    summary: "stop a run and undo what can be undone, or ask all that match to stop",
    takes: { "[run]": "the id of a run; those that match unless given" },
    options: { ...queryOptions, "--reason <words>": "why", "--yes": "also when more than a hundred match" },
    choices: { status: runStatuses },
    examples: ["holdfast runs cancel <run>", "holdfast runs cancel --workflow refund --status suspended"],
    async run(work) {
      const { given, terminal, client, signal } = work;
      if (given.run === undefined) return await actOnMany(work, "cancel");
      const input = { run_id: given.run, reason: given.reason };
      const runtime = await client({ runs: true });
      const answer = await runtime.call<Run & { requested: boolean }>("holdfast/cancel-workflow-run", input, {
        signal,
      });
      terminal.answer(answer, ({ requested, status }) =>
        requested ? `The run is ${status}.` : `The run had ended before: it is ${status}.`,
      );
    },
  },
  {
    name: "runs pause",
    summary: "let nothing new begin in a run; what is under way comes to its end",
    takes: run,
    run: (work) => act(work, "pause", "Nothing new begins in it until it is resumed."),
  },
  {
    name: "runs resume",
    summary: "let a run that was paused go on",
    takes: run,
    options: follow,
    run: (work) => act(work, "resume", "It goes on."),
  },
  {
    name: "runs retry",
    summary: "carry a failed run on, or all failed ones that match: what has succeeded is kept",
    takes: { "[run]": "the id of a run; those that match unless given" },
    options: {
      ...without(queryOptions, "--status <status>"),
      "--repeat-unknown": "also steps of unknown outcome: they may be done twice",
      "--yes": "also when more than a hundred match",
      ...follow,
    },
    examples: ["holdfast runs retry <run> --follow", "holdfast runs retry --workflow refund --since 2h"],
    async run(work) {
      const { given } = work;
      if (given.run === undefined) return await actOnMany(work, "retry");
      const more = given.repeatUnknown === true ? { repeat_unknown: true } : {};
      await act(work, "retry", "It is carried on.", more);
    },
  },
  {
    name: "runs rerun",
    summary: "a new run of the same workflow, from a step on",
    takes: run,
    options: {
      "--from <step>": "the id of the step to begin with; the first one unless given",
      ...inputOptions,
      "--key <key>": "makes a repeat of this command the same run",
      ...follow,
    },
    async run(work) {
      const { given, cwd, client: connect } = work;
      const typed = readInputs(given, cwd);
      const client = await connect({ runs: given.follow === true });
      const key = typeof given.key === "string" ? { key: given.key } : {};
      const input = { run_id: given.run, from: given.from, ...(await newInputs()) };
      await sayStarted(work, await client.call<Run>("holdfast/rerun-workflow-run", input, key));

      /** One by one they change those of the run; all at once they take their place. */
      async function newInputs(): Promise<object> {
        if (typed.all === undefined && typed.pairs.length === 0) return {};
        const record = await client.call("holdfast/get-workflow-run", { run_id: given.run });
        const about = await client.call("holdfast/get-workflow", { workflow_id: record.workflow_id });
        const before = (typed.all ?? record.inputs) as JsonMap;
        return { inputs: inputsFor({ ...typed, all: before }, about) };
      }
    },
  },
  {
    name: "runs send",
    summary: "send an event to a run, for a step that waits for it now or later",
    takes: { ...run, "<event>": "the name of the event", "[payload]": "its payload, as a JSON object" },
    options: { "--key <key>": "the same event under the same key is sent once" },
    examples: [`holdfast runs send <run> payment '{"cents": 1200}'`],
    async run(work) {
      const { given, terminal, client } = work;
      const { event, key } = given;
      const payload = readMap("The payload", given.payload);
      const input = { run_id: given.run, event, payload, ...(key !== undefined && { key }) };
      terminal.answer(await (await client()).call("holdfast/send-workflow-event", input), () => "Sent.");
      await noteWaiting(work);
    },
  },
  {
    name: "runs delete",
    summary: "erase a run and all that stands below it for good",
    takes: run,
    async run({ given, terminal, client }) {
      const runtime = await client();
      const answer = await runtime.call<{ deleted: string[] }>("holdfast/delete-workflow-run", { run_id: given.run });
      terminal.answer(answer, ({ deleted }) => deleted.map((id) => `deleted ${id}`));
    },
  },
];

/** The id of a run that was started, and how to watch it; or how it goes on. */
export async function sayStarted(work: Work, started: Run): Promise<void> {
  const { given, terminal } = work;
  const { run_id } = started;
  if (given.follow === true) return await watch(work, run_id);
  terminal.answer(started, () => run_id);
  terminal.note(`How it goes on: ${typedIn(work)(`runs follow ${run_id}`)}`);
  await noteWaiting(work);
}

/** What a run came to, once it has ended. */
export async function sayResult(work: Work, runId: string): Promise<void> {
  const { tree, record } = await resultOf(await watchingIn(work), runId);
  work.terminal.answer(record, ({ output }) => JSON.stringify(output, null, 2));
  if (tree.run.status !== "succeeded") throw notSucceeded(tree, record);
}

async function watch(work: Work, runId: string, after?: string): Promise<void> {
  await watchRun(await watchingIn(work), runId, after);
}

async function watchingIn(work: Work): Promise<Watching> {
  const { terminal, signal, client, door } = work;
  const isAlone = (await door()) === undefined;
  return { client: await client({ runs: true }), terminal, signal, isAlone, typed: typedIn(work) };
}

type Explanation = { readonly sentence: string; readonly command: string | null };

/** Null for those who may see their runs and do not operate the installation. What to type stands in the drawing already. */
async function explained(client: Client, run_id: unknown): Promise<Explanation | null> {
  try {
    return await client.call<Explanation>("holdfast/diagnose-workflow-run", { run_id });
  } catch (thrown) {
    if (thrown instanceof Refusal && exitCodeOf(thrown) === exitCodes.forbidden) return null;
    throw thrown;
  }
}

function typedIn({ projectOptions, cwd }: Work): (verb: string) => string {
  return (verb) => commandHere(verb, { ...projectOptions, cwd });
}

async function act(work: Work, verb: "pause" | "resume" | "retry", done: string, more: object = {}): Promise<void> {
  const { given, terminal, client, signal } = work;
  const runtime = await client({ runs: given.follow === true });
  const answer = await runtime.call<Run>(`holdfast/${verb}-workflow-run`, { run_id: given.run, ...more });
  if (given.follow === true) {
    await untilCarriedOn({ client: runtime, signal }, answer);
    return await watch(work, answer.run_id);
  }
  terminal.answer(answer, () => done);
  await noteWaiting(work);
}

/** What a run came to, as JSON; nothing where there is nothing. */
function made(what: string, value: unknown): readonly string[] {
  const text = JSON.stringify(value, null, 2);
  return text === "{}" || text === "[]" || text === undefined ? [] : ["", `${what} ${text}`];
}

function without<Options extends object, Key extends keyof Options>(options: Options, key: Key): Omit<Options, Key> {
  const { [key]: _, ...rest } = options;
  return rest;
}
