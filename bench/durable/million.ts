// Whether a database with a million messages is as quick to open, to list and to go on with as one with a thousand.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { figure, table, times } from "../markdown.ts";
import { median, medianRatio } from "../median.ts";
import type { Section, Target } from "../section.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";
import { countingAgent, type Filled, fill, LONG, shortKey } from "./many-messages.ts";
import { openRuntime } from "./open-runtime.ts";

const SMALL = 1_000;
const LARGE = 1_000_000;
const ROUNDS = 25;
const WARM_UPS = 5;

const actions = [
  "opening",
  "listing 50 threads",
  "listing 50 threads from the middle",
  "listing the threads that wait, of which there are none",
  "one more turn",
  "one more turn of the very long thread",
] as const;
type Action = (typeof actions)[number];
type Samples = Readonly<Record<Action, number[]>>;

export const million: Section = {
  name: "million",
  title: "A million messages in one database",
  async measure(size) {
    if (size === "quick") {
      const skipped = "Skipped: filling a database with a million messages takes a minute, so only a full run does it.";
      return { targets: targets(() => undefined), tables: [skipped], reading };
    }
    return await inTemporaryFolder(async (folder) => {
      const paths = { small: join(folder, "small.db"), large: join(folder, "large.db") };
      const filled = { small: await fill(paths.small, SMALL), large: await fill(paths.large, LARGE) };
      const [small, large] = [noSamples(), noSamples()];
      for (let round = -WARM_UPS; round < ROUNDS; round++) {
        await sample(paths.small, filled.small, round < 0 ? noSamples() : small);
        await sample(paths.large, filled.large, round < 0 ? noSamples() : large);
      }
      const ratioOf = (action: Action) => medianRatio(large[action], small[action]);
      return {
        targets: targets((...measured) => Math.max(...measured.map(ratioOf))),
        tables: [
          table(
            [
              "Milliseconds",
              `${figure(filled.small.messages)} messages`,
              `${figure(filled.large.messages)} messages`,
              "ratio",
            ],
            actions.map((action) => [
              action,
              figure(median(small[action])),
              figure(median(large[action])),
              times(ratioOf(action)),
            ]),
          ),
          `The large one holds ${figure(filled.large.shortThreads)} threads and is ${figure(statSync(paths.large).size / 2 ** 20)} MB.`,
        ],
        reading,
      };
    });
  },
};

function targets(measured: (...actions: readonly Action[]) => number | undefined): Target[] {
  const target = (says: string, ...of: readonly Action[]) => ({
    says: `1,000,000 messages in one database: ${says} takes at most 2 × as long as with 1,000`,
    limit: { atMost: 2 },
    measured: measured(...of),
  });
  return [
    target("opening", "opening"),
    target("listing 50 threads", "listing 50 threads", "listing 50 threads from the middle"),
    target("one more turn", "one more turn", "one more turn of the very long thread"),
  ];
}

function noSamples(): Samples {
  return Object.fromEntries(actions.map((action) => [action, []])) as unknown as Samples;
}

async function sample(path: string, { shortThreads }: Filled, samples: Samples): Promise<void> {
  const timed = async <Result>(action: Action, work: () => Promise<Result>): Promise<Result> => {
    const start = performance.now();
    const result = await work();
    samples[action].push(performance.now() - start);
    return result;
  };
  const holdfast = await timed("opening", () => openRuntime(sqlite(path), [countingAgent()]));
  const anyOf = (threads: number) =>
    holdfast.threads.open(shortKey(Math.floor(Math.random() * threads)), { agent: "counter" });
  const { id: after } = await anyOf(shortThreads - 50);
  const short = await anyOf(shortThreads);
  const long = await holdfast.threads.open(LONG, { agent: "counter" });
  const listed = [
    await timed("listing 50 threads", () => holdfast.threads.list({ limit: 50 })),
    await timed("listing 50 threads from the middle", () => holdfast.threads.list({ limit: 50, after })),
  ];
  await timed("listing the threads that wait, of which there are none", () =>
    holdfast.threads.list({ limit: 50, status: "waiting" }),
  );
  assert.deepEqual(
    listed.map(({ length }) => length),
    [50, 50],
  );
  await timed("one more turn", () => short.send("1"));
  await timed("one more turn of the very long thread", () => long.send("1"));
  await holdfast.close();
}

const reading = `The rows are copies of rows that Holdfast has written: short threads with all that belongs to them, each with an id as
random as a real one, and one thread with a tenth of all messages, which was compacted as it grew. **One more turn** is from a
message to its outcome: two answers of the model and one tool call, on SQLite that waits for the disk, of a thread picked at
random. Small and large take turns. Listing what hardly any thread is goes through all of them; the target does not mean it.`;
