// The runs of workflows that are measured. Their steps do nothing, so that what is left is the cost of having them.
import type { JsonMap } from "../../src/contracts/json.ts";

export type Shape =
  /** Steps one after another, each a function. */
  | { readonly of: "steps"; readonly count: number }
  /** A function for each item of a list, so many beside each other. */
  | { readonly of: "items"; readonly count: number; readonly concurrency: number }
  /** Sleeps one after another: the run gives its lease back for each, and is claimed again. */
  | { readonly of: "sleeps"; readonly count: number }
  /** The same, and behind each sleep a step that goes through a list of so many items. */
  | { readonly of: "sleeps with lists"; readonly count: number; readonly items: number }
  /** So many runs at once, each of so many functions one after another. */
  | { readonly of: "runs"; readonly count: number; readonly steps: number };

/** How long each sleep is, by the clock that the benchmark holds. */
export const SLEEP_MS = 1_000;

export function workflowOf(shape: Shape): JsonMap {
  return { id: "bench", steps: stepsOf(shape) };
}

function stepsOf(shape: Shape): readonly JsonMap[] {
  switch (shape.of) {
    case "steps":
      return functions(shape.count);
    case "runs":
      return functions(shape.steps);
    case "items":
      return [foreach("each", shape.count, shape.concurrency)];
    case "sleeps":
      return Array.from({ length: shape.count }, (_, index) => sleep(index));
    case "sleeps with lists":
      return Array.from({ length: shape.count }, (_, index) => [
        foreach(`each-${index}`, shape.items, 1),
        sleep(index),
      ]).flat();
    default:
      return shape satisfies never;
  }
}

/** How many rows of steps a run of that shape leaves behind. */
export function rowsOf(shape: Shape): number {
  switch (shape.of) {
    case "runs":
      return shape.count * shape.steps;
    case "items":
      return shape.count + 1;
    case "sleeps with lists":
      return shape.count * (shape.items + 2);
    default:
      return shape.count;
  }
}

function functions(count: number): readonly JsonMap[] {
  return Array.from({ length: count }, (_, index) => ({ ...nothing(`step-${index}`), input: { index } }));
}

function foreach(id: string, count: number, concurrency: number): JsonMap {
  const items = Array.from({ length: count }, (_, index) => index);
  return { id, type: "foreach", items, concurrency, steps: [{ ...nothing("one"), input: { index: "${vars.item}" } }] };
}

function nothing(id: string): JsonMap {
  return { id, type: "function", function: "nothing" };
}

function sleep(index: number): JsonMap {
  return { id: `sleep-${index}`, type: "sleep", for: `${SLEEP_MS}ms` };
}
