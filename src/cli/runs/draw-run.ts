// A run of a workflow as lines, from how far it is. Pure: what the time is and how commands are typed here are arguments.
import type { ShownTree } from "../../workflows/operations/tree.ts";
import { shellWord } from "../command-here.ts";
import { elapsed, elapsedSoFar } from "./elapsed.ts";
import { detailsOf, runInWords } from "./step-words.ts";

type Step = ShownTree["steps"][number];

type Part = Step["branches"][number];

/** What a line is about, by which it is coloured and which is left out first where there is no room. */
export type LineKind = Step["status"] | "asks" | "heading" | "command";

export type TreeLine = {
  readonly kind: LineKind;
  readonly depth: number;
  /** The text of a command is typed as it stands: it is never cut. */
  readonly text: string;
};

export type DrawOptions = {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** A command as it is typed where the drawing is seen. */
  typed(verb: string): string;
};

/** The run on the first line; its steps below it, each with what to type for it; what to do about the run at last. */
export function drawRun(tree: ShownTree, options: DrawOptions): readonly TreeLine[] {
  const { run, steps, rollback, on_failure } = tree;
  const about: About = { tree, options };
  const { run_id, workflow_id } = run;
  const state = [runInWords(run), ...timeOf(run.started_at ?? run.created_at, run.ended_at, options.now)].join("  ");
  return [
    { kind: kindOfRun(run), depth: 0, text: `${workflow_id}  ${state}  run ${run_id}` },
    ...linesOf(about, steps, 1),
    ...section(about, "undone, the last first", rollback),
    ...section(about, "after the failure", on_failure),
    ...othersBelow(about),
    ...commandsOf(run, rollback.length > 0).map((verb) => commandLine(about, 1, verb)),
  ];
}

type About = { readonly tree: ShownTree; readonly options: DrawOptions };

type Run = ShownTree["run"];

function kindOfRun({ status, reason }: Run): LineKind {
  if (status !== "suspended") return status;
  return reason === "waiting_for_approval" || reason === "waiting_for_request" ? "asks" : "waiting";
}

/** Names of neighbours are as wide as the widest, so that what stands behind them does too. */
const WIDEST_NAME = 24;

function linesOf(about: About, steps: readonly Step[], depth: number): readonly TreeLine[] {
  const width = Math.min(WIDEST_NAME, Math.max(0, ...steps.map((step) => nameOf(step).length)));
  return steps.flatMap((step) => stepLines(about, step, depth, width));
}

function stepLines(about: About, step: Step, depth: number, width: number): readonly TreeLine[] {
  return [
    { kind: kindOf(step), depth, text: textOf(about, step, width) },
    ...commandsFor(step, about.tree.run.run_id).map((verb) => commandLine(about, depth + 1, verb)),
    ...step.branches.flatMap((part) => partLines(about, step, part, depth + 1)),
  ];
}

function textOf({ tree, options: { now } }: About, step: Step, width: number): string {
  const time = step.started_at === null ? [] : timeOf(step.started_at, step.ended_at, now);
  const details = [...detailsOf(step, tree.children, now), ...time];
  const name = nameOf(step);
  return details.length === 0 ? name : `${name.padEnd(width)}  ${details.join("  ")}`;
}

function nameOf({ id, type }: Step): string {
  return id === "" ? type : id;
}

function kindOf({ status, request_id }: Step): LineKind {
  return status === "waiting" && request_id !== null ? "asks" : status;
}

/** The case that was chosen is named behind its step, and an item with nothing but one step is one line with it. */
function partLines(about: About, step: Step, part: Part, depth: number): readonly TreeLine[] {
  if (step.type === "branch") return linesOf(about, part.steps, depth);
  const [only, ...more] = part.steps;
  const isItem = /^\d+$/.test(part.name);
  const name = isItem ? `#${part.name}` : part.name;
  if (isItem && only && more.length === 0) {
    const [first, ...below] = stepLines(about, only, depth, 0);
    return first ? [{ ...first, text: `${name}  ${first.text}` }, ...below] : [];
  }
  return [{ kind: part.status, depth, text: name }, ...linesOf(about, part.steps, depth + 1)];
}

function timeOf(from: string, to: string | null, now: number): readonly string[] {
  return to === null ? [elapsedSoFar(now - Date.parse(from))] : [elapsed(Date.parse(to) - Date.parse(from))];
}

function commandLine({ options }: About, depth: number, verb: string): TreeLine {
  return { kind: "command", depth, text: options.typed(verb) };
}

/** What to type about a step that is open. */
function commandsFor({ status, waits_for, request_id, child_id, event }: Step, runId: string): readonly string[] {
  if (status !== "waiting" && status !== "running") return [];
  switch (waits_for) {
    case "approval":
      return request_id === null ? [] : [`approvals accept ${request_id}`];
    case "request":
      return request_id === null ? [] : [`requests submit ${request_id} --result '{}'`];
    case "event":
      return event === null ? [] : [`runs send ${runId} ${shellWord(event)} '{}'`];
    case "agent":
      return child_id === null ? [] : [`threads tail ${child_id}`];
    case "workflow":
      return child_id === null ? [] : [`runs follow ${child_id}`];
    case null:
      // A person has to agree before the step is carried out.
      return request_id === null || status !== "waiting" ? [] : [`approvals accept ${request_id}`];
  }
}

/** What to type about the run itself. */
function commandsOf({ run_id, status, reason, parent_id }: Run, isRolledBack: boolean): readonly string[] {
  if (reason === "paused") return [`runs resume ${run_id}`];
  if (status !== "failed" || parent_id !== null) return [];
  return [isRolledBack ? `runs rerun ${run_id}` : `runs retry ${run_id}`];
}

function section(about: About, heading: string, steps: readonly Step[]): readonly TreeLine[] {
  if (steps.length === 0) return [];
  return [{ kind: "heading", depth: 1, text: heading }, ...linesOf(about, steps, 2)];
}

/** Runs that no step of those that are shown stands for: those of items that are not named, and those that are detached. */
function othersBelow({ tree, options }: About): readonly TreeLine[] {
  const shown = new Set([...allSteps(tree)].map(({ child_id }) => child_id));
  const others = tree.children.filter(({ run_id }) => !shown.has(run_id));
  if (others.length === 0) return [];
  return [
    { kind: "heading", depth: 1, text: "runs below it" },
    ...others.map((run): TreeLine => {
      const time = timeOf(run.started_at ?? run.created_at, run.ended_at, options.now);
      const words = [run.workflow_id, runInWords(run), ...time, `run ${run.run_id}`];
      return { kind: kindOfRun(run), depth: 2, text: words.join("  ") };
    }),
  ];
}

function* allSteps({ steps, rollback, on_failure }: ShownTree): Generator<Step> {
  const open = [...steps, ...rollback, ...on_failure];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    yield step;
    for (const part of step.branches) open.push(...part.steps);
  }
}
