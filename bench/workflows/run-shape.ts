// Runs a workflow of a shape, and tells when each of its steps began.
import assert from "node:assert/strict";
import type { Backend } from "../../src/backend/sql-driver.ts";
import type { HeldClock } from "../../src/testing/held-clock.ts";
import { openRuntime } from "../durable/open-runtime.ts";
import { median } from "../median.ts";
import { rowsOf, type Shape, SLEEP_MS, workflowOf } from "./shapes.ts";

export type Ran = {
  /** A row of a step, from the moment the run is started until its record is there. */
  readonly microseconds: number;
  /** What the processor had to do for it, in this process. */
  readonly processor: number;
  /** When each function was called, or each sleep was over, in milliseconds. */
  readonly stamps: readonly number[];
};

export type Held = {
  /** The clock of the backend, for runs that sleep. */
  readonly clock?: HeldClock | undefined;
  /** Told right before the run is started, and right after its record is there. */
  readonly onStart?: () => void;
  readonly onDone?: () => void;
};

export async function runShape(backend: Backend, shape: Shape, { clock, onStart, onDone }: Held = {}): Promise<Ran> {
  const stamps: number[] = [];
  const nothing = () => {
    stamps.push(performance.now());
    return { done: true };
  };
  const sleeps = shape.of === "sleeps" || shape.of === "sleeps with lists";
  const stepFunctions = { nothing: sleeps ? () => ({ done: true }) : nothing };
  // Told by the place where a crash would be tried: the run sleeps, and its lease was given back.
  let asleep = Promise.withResolvers<void>();
  const onPoint = (point: string) => {
    if (point === "after commit step.waiting and settle") asleep.resolve();
  };
  const options = { workflows: [workflowOf(shape)], stepFunctions, onPoint };
  const holdfast = await openRuntime(backend, [], options);
  try {
    onStart?.();
    const processor = process.cpuUsage();
    const start = performance.now();
    const runs = shape.of === "runs" ? shape.count : 1;
    const started = await Promise.all(Array.from({ length: runs }, () => holdfast.workflows.start("bench")));
    for (let sleep = 0; sleeps && sleep < shape.count; sleep++) {
      await asleep.promise;
      stamps.push(performance.now());
      asleep = Promise.withResolvers();
      void clock?.advance(SLEEP_MS);
    }
    const records = await Promise.all(started.map((run) => run.result()));
    const took = (performance.now() - start) * 1000;
    const { user, system } = process.cpuUsage(processor);
    onDone?.();
    assert.ok(records.every(({ status }) => status === "succeeded"));
    const rows = rowsOf(shape);
    return { microseconds: took / rows, processor: (user + system) / rows, stamps };
  } finally {
    await holdfast.close();
  }
}

/** Microseconds that a step took, of those around that one. */
export function stepAround({ stamps }: Ran, step: number): number {
  const reach = Math.min(50, Math.ceil(step / 2));
  const to = Math.min(stamps.length - 1, step + reach);
  const window = stamps.slice(Math.max(0, to - 2 * reach), to + 1);
  return median(window.slice(1).map((stamp, index) => (stamp - (window[index] ?? Number.NaN)) * 1000));
}
