// What a step may ask for beside what it does, and how that stands in the spec.
import { isMap, type JsonMap, type UnknownMap } from "../../contracts/json.ts";
import { retryOf, timeoutOf } from "../../contracts/workflows/step-options.ts";
import type { Needed } from "./needed.ts";
import { describing, invalid, type Place } from "./place.ts";
import { type Reference, reference } from "./reference.ts";
import { type Step, type StepKind, type Written, writerOf } from "./step.ts";

export type RetryOptions = {
  /** Attempts in all, the first included: from 2 to 100. */
  readonly maxAttempts: number;
  /** How long to wait before the second attempt, such as `500ms`; a second unless given. */
  readonly backoff?: string;
  /** By how much each wait is longer than the one before; twice unless given. */
  readonly multiplier?: number;
  /** The longest wait; an hour unless given. */
  readonly maxBackoff?: string;
};

type CallOptions = {
  readonly retry?: RetryOptions;
  /** How long one attempt may take, such as `30s`. */
  readonly timeout?: string;
  /** True when doing it twice does no harm: an attempt that ran out of time is then made again. */
  readonly idempotent?: boolean;
};

type UndoOptions<Output, Scope> = {
  /** What undoes the step once it has succeeded, when the run fails or is stopped. */
  readonly undo?: Step<unknown> | ((scope: Scope & { readonly output: Reference<Output> }) => Step<unknown>);
};

/** What a step of a kind may ask for. */
export type StepOptions<Output, Kind extends StepKind, Scope> = Kind extends "call"
  ? CallOptions & UndoOptions<Output, Scope>
  : Kind extends "parts" | "wait"
    ? UndoOptions<Output, Scope>
    : { readonly [key: string]: never };

const keys: Readonly<Record<StepKind, readonly string[]>> = {
  call: ["retry", "timeout", "idempotent", "undo"],
  parts: ["undo"],
  wait: ["undo"],
  sleep: [],
};

/** The options as the keys of a step of the spec. */
export function writeOptions(options: UnknownMap, kind: StepKind, place: Place, scope: UnknownMap): Written {
  const unknown = Object.keys(options).find((key) => !keys[kind].includes(key));
  if (unknown !== undefined) throw invalid(`${unknown} means nothing here`);
  const { retry, timeout, idempotent, undo } = options;
  if (undo !== undefined && !place.mayUndo) throw invalid("undo means nothing here: what runs now is never undone");
  const undoing = undo === undefined ? undefined : writeUndo(undo, place, scope);
  const step = {
    ...(retry !== undefined && { retry: writeRetry(retry) }),
    ...(timeout !== undefined && { timeout: String(timeout) }),
    ...(idempotent !== undefined && { idempotent: idempotent === true }),
    ...(undoing && { undo: undoing.step }),
  };
  if (timeout !== undefined && timeoutOf(step) === undefined) throw invalid("timeout is no duration such as 30s");
  return { step, needs: undoing?.needs ?? [] };
}

const retryKeys: Readonly<Record<keyof RetryOptions, string>> = {
  maxAttempts: "max_attempts",
  backoff: "backoff",
  multiplier: "multiplier",
  maxBackoff: "max_backoff",
};

function writeRetry(given: unknown): JsonMap {
  const options = isMap(given) ? given : {};
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(retryKeys, key));
  const asked = Object.entries(retryKeys).filter(([key]) => options[key] !== undefined);
  const retry = Object.fromEntries(asked.map(([key, name]) => [name, options[key]])) as JsonMap;
  if (unknown !== undefined || !retryOf({ retry })) {
    throw invalid("retry is { maxAttempts: 2 to 100, backoff?, multiplier?, maxBackoff? } with durations such as 30s");
  }
  return retry;
}

function writeUndo(given: unknown, around: Place, scope: UnknownMap): { step: JsonMap; needs: readonly Needed[] } {
  const owner = {};
  const place = { ...around, name: `${around.name}.undo`, mayUndo: false, owners: new Set([...around.owners, owner]) };
  return describing(place, () => {
    const output = reference(owner, "vars.output");
    const write = writerOf(typeof given === "function" ? given({ ...scope, output }) : given);
    if (!write) throw invalid("undo is no step");
    const { step, needs = [] } = write(place);
    return { step, needs };
  });
}
