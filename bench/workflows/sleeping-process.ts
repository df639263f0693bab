// Puts runs to sleep and tells how large the heap is afterwards; then wakes some of them. Started with --expose-gc.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { heldClock } from "../../src/testing/held-clock.ts";
import { openRuntime } from "../durable/open-runtime.ts";
import { answerOrders } from "../subject.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";

/** So many runs more, which sleep as long as that. */
export type Order = { readonly runs: number; readonly hours: number } | { readonly wakeUpTo: number };

export type Answer = {
  readonly heap: number;
  /** How often runs were claimed so far. */
  readonly claims: number;
  /** How long it took. */
  readonly milliseconds: number;
};

const HOUR_MS = 3_600_000;
const AT_A_TIME = 50;

const path = join(makeTemporaryFolder(), "bench.db");
const clock = heldClock();
let settled = 0;
let onSettled = () => {};
const holdfast = await openRuntime(sqlite(path, { synchronous: "normal", clock }), [], {
  workflows: [
    {
      id: "sleeper",
      steps: [
        { id: "before", type: "function", function: "nothing" },
        { id: "sleep", type: "sleep", for: "${inputs.for}" },
        { id: "after", type: "function", function: "nothing", input: "${steps.before.output}" },
      ],
    },
  ],
  stepFunctions: { nothing: () => ({ done: true }) },
  // Told by the place where a crash would be tried: the lease was given back.
  onPoint: (point) => {
    if (!point.startsWith("after commit") || !point.endsWith("and settle")) return;
    settled++;
    onSettled();
  },
});

answerOrders(async (order: Order): Promise<Answer> => {
  const start = performance.now();
  if ("runs" in order) await sleep(order.runs, order.hours);
  else {
    const before = settled;
    void clock.advance(HOUR_MS);
    await untilSettled(before + order.wakeUpTo);
  }
  const milliseconds = performance.now() - start;
  return { milliseconds, heap: await heapBytes(), claims: claims() };
});

async function sleep(runs: number, hours: number): Promise<void> {
  for (let left = runs; left > 0; left -= AT_A_TIME) {
    const count = Math.min(AT_A_TIME, left);
    const before = settled;
    const inputs = { for: `${hours}h` };
    await Promise.all(Array.from({ length: count }, () => holdfast.workflows.start("sleeper", inputs)));
    await untilSettled(before + count);
  }
}

async function untilSettled(count: number): Promise<void> {
  await new Promise<void>((resolve) => {
    onSettled = () => settled >= count && resolve();
    onSettled();
  });
}

function claims(): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare("select sum(epoch) as claims from threads where kind = 'workflow'").get();
  database.close();
  return Number(row?.claims);
}

/** What is left when everything is thrown away that can be: what finalizers free goes only in a later collection. */
async function heapBytes(): Promise<number> {
  assert.ok(globalThis.gc, "start this with --expose-gc");
  for (let collection = 0; collection < 4; collection++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}
