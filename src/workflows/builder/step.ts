// A step that was described and has no id and no place yet: what `operation`, `run`, `foreach` and the others return.
import type { JsonMap } from "../../contracts/json.ts";
import type { Needed } from "./needed.ts";
import type { Place } from "./place.ts";

/** A `call` does something by itself, `parts` are steps inside a step, and a `wait` is over when something comes in. */
export type StepKind = "call" | "parts" | "sleep" | "wait";

declare const output: unique symbol;

/** A step, by what comes out of it. */
export interface Step<Output, Kind extends StepKind = StepKind> {
  readonly kind: Kind;
  readonly [output]?: Output;
}

/** A step as it stands in the spec, without its id, and what no spec can hold. */
export type Written = { readonly step: JsonMap; readonly needs?: readonly Needed[] };

type Write = (place: Place) => Written;

const writers = new WeakMap<object, Write>();

/** It is written once its place is known. */
export function newStep<Output, Kind extends StepKind>(kind: Kind, write: Write): Step<Output, Kind> {
  const made = Object.freeze({ kind });
  writers.set(made, write);
  return made;
}

/** How a step is written; undefined for what is none. */
export function writerOf(given: unknown): Write | undefined {
  return typeof given === "object" && given !== null ? writers.get(given) : undefined;
}
