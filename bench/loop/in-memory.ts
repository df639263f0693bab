// What a turn of the loop costs in memory, beside the AI SDK's, and whether it stays so in long conversations.
import sdk from "ai/package.json" with { type: "json" };
import { figure, table, times } from "../markdown.ts";
import type { Section, Target } from "../section.ts";
import { aiSdk } from "./ai-sdk.ts";
import { holdfastFull } from "./holdfast-full.ts";
import { holdfastObserved } from "./holdfast-observed.ts";
import { measure, ratio, type Timing, type Timings } from "./measure.ts";
import type { Loop } from "./workload.ts";

const [SHORT, LONG] = [100, 1600];

/** How many turns make a sample: enough that a hiccup of the machine does not decide it. */
const SAMPLE = 4 * LONG;

const lengths = [SHORT, 400, LONG];
const loops = [holdfastObserved, holdfastFull, aiSdk];

export const inMemory: Section = {
  name: "loop",
  title: "The loop in memory",
  async measure(size) {
    const isQuick = size === "quick";
    const timings = await measure({
      loops,
      lengths,
      rounds: isQuick ? 2 : 9,
      warmUps: isQuick ? 0 : 3,
      turnsPerSample: isQuick ? LONG : SAMPLE,
    });
    return {
      targets: [
        against(timings, holdfastObserved, 1 / 5, "one fifth"),
        against(timings, holdfastFull, 1 / 3, "one third"),
        growth(timings, holdfastObserved),
        growth(timings, holdfastFull),
      ],
      tables: tables(timings),
      reading,
      versions: { ai: sdk.version },
    };
  },
};

function against(timings: Timings, loop: Loop, atMost: number, words: string): Target {
  return {
    says: `${loop.name}: at most ${words} of the time per turn of the AI SDK, at ${SHORT} turns`,
    limit: { atMost },
    measured: ratio(timings(loop, SHORT), timings(aiSdk, SHORT)),
  };
}

function growth(timings: Timings, loop: Loop): Target {
  return {
    says: `${loop.name}: a turn of ${LONG} at most 1.5 times as long as a turn of ${SHORT}`,
    limit: { atMost: 1.5 },
    measured: ratio(timings(loop, LONG), timings(loop, SHORT)),
  };
}

function tables(timings: Timings): string[] {
  const columns = lengths.map((turns) => `${turns} turns`);
  return [
    table(
      ["Microseconds per turn", ...columns, `${LONG} / ${SHORT}`],
      loops.map((loop) => [
        loop.name,
        ...lengths.map((turns) => spread(timings(loop, turns))),
        times(ratio(timings(loop, LONG), timings(loop, SHORT))),
      ]),
    ),
    table(
      ["Share of the AI SDK's time", ...columns],
      [holdfastObserved, holdfastFull].map((loop) => [
        loop.name,
        ...lengths.map((turns) => figure(ratio(timings(loop, turns), timings(aiSdk, turns)))),
      ]),
    ),
  ];
}

function spread({ median, fastest, middleHalf: [low, high] }: Timing): string {
  return `${median.toFixed(1)} (${fastest.toFixed(1)}; ${low.toFixed(1)}–${high.toFixed(1)})`;
}

const reading = `Each turn the model says a short sentence and calls one tool with a small JSON argument; the tool answers with
a small JSON object; in the last turn the model says that it is done. Model and tool are asynchronous functions that answer
at once, so what is left is the cost of the loop itself. A real model takes a second or more per turn, so these figures
matter to a server with many conversations and to tests, not to the speed of one answer.

- **${holdfastObserved.name}**: \`runConversation\` with a turn runner, a tool and \`onEvent\`.
- **${holdfastFull.name}**: the same with guards, hooks and ports on and none tripping: budgets, mediator, completion policy,
  \`shouldContinue\`, compaction, call rules, spin and failure detection, truncation, diagnostics, interrupts, lock,
  persister, run control, runtime tool store, hooks and an abort signal.
- **${aiSdk.name}**: \`generateText\` with the mock model it ships, the same tool and schema (without a validator) and
  \`onStepEnd\`. The mock's log of prompts is emptied, because keeping it would count against the SDK.

They do not do the same for their time: Holdfast keeps redacted events, audit hashes and records that can be stored; the SDK
converts every message to the form of a provider, which in Holdfast is left to the turn runner.

In brackets the fastest round, then the middle half of them. Every sample is ${SAMPLE} turns, in as many runs as that takes,
right after as many turns that are not timed; the subject's own garbage collection counts. None is forced: right after a
full collection the compiler has to learn anew, and so it does when subjects share a heap; both make all of them slower, and
Holdfast more than the SDK. Each run must prove that it made all its turns and calls.`;
