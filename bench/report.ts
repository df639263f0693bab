// The figures as tables, and whether each target is met.
import { availableParallelism } from "node:os";
import sdk from "ai/package.json" with { type: "json" };
import { aiSdk } from "./ai-sdk.ts";
import { type DurableCost, EARLY, LATE, MOST_BARE, MOST_GROWTH } from "./durable.ts";
import { holdfastFull } from "./holdfast-full.ts";
import { holdfastObserved } from "./holdfast-observed.ts";
import { ratio, type Timing, type Timings } from "./measure.ts";
import { MOST_FILTERS, TOOLS, type VisibilityCost } from "./visibility.ts";
import type { Subject } from "./workload.ts";

const [SHORT, LONG] = [100, 1600];

/** How many turns make a sample: enough that a hiccup of the machine does not decide it. */
export const SAMPLE = 4 * LONG;

export const lengths = [SHORT, 400, LONG];
export const subjects = [holdfastObserved, holdfastFull, aiSdk];

/** Everything that was measured. */
export type Figures = {
  readonly durable: DurableCost;
  readonly timings: Timings;
  readonly visibility: readonly VisibilityCost[];
};

type Target = {
  readonly says: string;
  readonly measured: (figures: Figures) => number;
  readonly most: number;
};

const targets: readonly Target[] = [
  {
    says: `A durable step on SQLite that waits for the disk: at most ${MOST_BARE} times the bare commits of its rows`,
    measured: ({ durable }) => durable.ratio,
    most: MOST_BARE,
  },
  {
    says: `A durable step after ${LATE} others: at most ${MOST_GROWTH} times as long as one after ${EARLY}`,
    measured: ({ durable }) => durable.growth,
    most: MOST_GROWTH,
  },
  against(holdfastObserved, 1 / 5, "one fifth"),
  against(holdfastFull, 1 / 3, "one third"),
  growth(holdfastObserved),
  growth(holdfastFull),
  {
    says: `Settling which of ${TOOLS} tools the model sees: at most ${MOST_FILTERS} plain filters, whatever the policy`,
    measured: ({ visibility }) => Math.max(...visibility.map(({ filters }) => filters)),
    most: MOST_FILTERS,
  },
];

function against(subject: Subject, most: number, words: string): Target {
  return {
    says: `${subject.name}: at most ${words} of the time per turn of the AI SDK, at ${SHORT} turns`,
    measured: ({ timings }) => ratio(timings(subject, SHORT), timings(aiSdk, SHORT)),
    most,
  };
}

function growth(subject: Subject): Target {
  return {
    says: `${subject.name}: a turn of ${LONG} at most 1.5 times as long as a turn of ${SHORT}`,
    measured: ({ timings }) => ratio(timings(subject, LONG), timings(subject, SHORT)),
    most: 1.5,
  };
}

/** The tables of figures and targets. */
export function tables(figures: Figures): string {
  const { durable, timings, visibility } = figures;
  return [
    "## A step of a durable thread",
    "",
    row(["", "Microseconds"]),
    row(["---", "---:"]),
    row(["Holdfast on SQLite, synchronous=FULL", durable.step.toFixed(0)]),
    row(["the same rows in the same commits, bare node:sqlite", durable.bare.toFixed(0)]),
    row([`Holdfast, after ${EARLY} steps of one thread`, durable.early.toFixed(0)]),
    row([`Holdfast, after ${LATE}`, durable.late.toFixed(0)]),
    row([`Holdfast, after ${LATE} without compaction`, durable.lateUncompacted.toFixed(0)]),
    "",
    `Holdfast takes ${times(durable.ratio)} times as long as the bare commits. A step leaves ${durable.bytesPerStep.toFixed(0)} bytes in the file.`,
    "",
    "## Microseconds per turn of the loop in memory",
    "",
    row(["", ...lengths.map((turns) => `${turns} turns`), `${LONG} / ${SHORT}`]),
    row(["---", ...lengths.map(() => "---:"), "---:"]),
    ...subjects.map((subject) =>
      row([
        subject.name,
        ...lengths.map((turns) => figure(timings(subject, turns))),
        times(ratio(timings(subject, LONG), timings(subject, SHORT))),
      ]),
    ),
    "",
    "## Share of the AI SDK's time",
    "",
    row(["", ...lengths.map((turns) => `${turns} turns`)]),
    row(["---", ...lengths.map(() => "---:")]),
    ...[holdfastObserved, holdfastFull].map((subject) =>
      row([subject.name, ...lengths.map((turns) => times(ratio(timings(subject, turns), timings(aiSdk, turns))))]),
    ),
    "",
    `## What the model sees among ${TOOLS} tools`,
    "",
    row(["", "Microseconds", "Plain filters"]),
    row(["---", "---:", "---:"]),
    ...visibility.map(({ says, microseconds, filters }) => row([says, microseconds.toFixed(1), times(filters)])),
    "",
    "## Targets",
    "",
    row(["Target", "Most", "Measured", ""]),
    row(["---", "---:", "---:", "---"]),
    ...targets.map(({ says, measured, most }) => {
      const found = measured(figures);
      return row([says, times(most), times(found), found <= most ? "met" : "**missed**"]);
    }),
    "",
  ].join("\n");
}

/** The page that `npm run bench` leaves behind. */
export function page(figures: Figures, rounds: number): string {
  return `# What a turn costs

Written by \`npm run bench\`; \`npm run bench -- --quick\` prints a rougher version and leaves this page alone.

Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, \`ai\` ${sdk.version},
${rounds} rounds.

${tables(figures)}
## How to read it

A **step of a durable thread** is one answer of the model that calls one tool, and the tool's result: two commits, each
waiting for the disk, with everything that a crash at any instruction must find. Model and tool answer at once. The bare
database then writes exactly the statements that Holdfast wrote, with prepared statements and nothing in between; thread
and replay take turns, the ratio is taken round by round, and the median counts. Threads are compacted at 80 messages, as any
long thread has to be; without compaction every answer is asked with everything that was ever said, and a copy of that list
is what a late step costs more.

What Holdfast adds is work of the processor, some 140 microseconds a step when nothing cools its caches, and two to three
times that between waits for the disk. The disk, too, takes longer for a commit that comes after such a pause than for one
that follows at once, as the bare ones do. Both belong to the ratio, which is not yet where it is to be.

In the **loop in memory** each turn the model says a short sentence and calls one tool with a small JSON argument; the tool answers with a small
JSON object; in the last turn the model says that it is done. Model and tool are asynchronous functions that answer at
once, so what is left is the cost of the loop itself. A real model takes a second or more per turn, so these
figures matter to a server with many conversations and to tests, not to the speed of one answer.

- **${holdfastObserved.name}**: \`runConversation\` with a turn runner, a tool and \`onEvent\`.
- **${holdfastFull.name}**: the same with guards, hooks and ports on and none tripping: budgets, mediator, completion policy,
  \`shouldContinue\`, compaction, call rules, spin and failure detection, truncation, diagnostics, interrupts, lock,
  persister, run control, runtime tool store, hooks and an abort signal.
- **${aiSdk.name}**: \`generateText\` with the mock model it ships, the same tool and schema (without a validator) and
  \`onStepEnd\`. The mock's log of prompts is emptied, because keeping it would count against the SDK.

The policies are resolved over ${TOOLS} declared tools of five categories, as a registry of sources gives them, with the
function that the loop asks once a turn; the plain filter keeps the tools of one category. Both run in this process,
in turns, and the figure is the median.

The subjects do not do the same for their time: Holdfast keeps redacted events, audit hashes and records that can be
stored; the SDK converts every message to the form of a provider, which in Holdfast is left to the turn runner.

A figure is the median over the rounds; in brackets the fastest round, then the middle half of them. Each subject has a
process of its own, as in a program that uses only this one; the processes take turns, length by length and round by
round, never two at a time, so that a busy machine slows all of them alike. Every sample is ${SAMPLE} turns, in as many runs
as that takes, right after as many turns that are not timed; the subject's own garbage collection counts.
None is forced: right after a full collection the compiler has to learn anew, and so it does when subjects share a heap;
both make all of them slower, and Holdfast more than the SDK. Each run must prove that it made
all its turns and calls. A ratio is the median of the ratios of each round, whose samples were taken close together: it
carries over to other machines, the microseconds do not.
`;
}

function figure({ median, fastest, middleHalf: [low, high] }: Timing): string {
  return `${median.toFixed(1)} (${fastest.toFixed(1)}; ${low.toFixed(1)}–${high.toFixed(1)})`;
}

function times(ratio: number): string {
  return ratio.toFixed(2);
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
