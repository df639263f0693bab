// The one way in which a state changes.
import type { Fact } from "./facts.ts";
import { ON_FAILURE, parentOf, positionOf, ROLLBACK, ROOT } from "./path.ts";
import { type FanOut, initialState, type OpenStep, type Sequence, type State } from "./state.ts";

const atFirst: Sequence = { kind: "sequence", at: 0 };
const listOf = { rollback: ROLLBACK, on_failure: ON_FAILURE } as const;

/** The state after one more fact. */
export function apply(state: State, fact: Fact): State {
  return { ...change(state, fact), seq: state.seq + 1 };
}

/** The state that facts lead to. */
export function fold(facts: Iterable<Fact>): State {
  let state = initialState;
  for (const fact of facts) state = apply(state, fact);
  return state;
}

function change(state: State, fact: Fact): State {
  switch (fact.type) {
    case "run.started":
      return withScope(state, ROOT, atFirst);
    case "step.begun":
      return withStep(state, fact.path, { attempt: fact.attempt, phase: "running", until: null });
    case "step.waiting":
      return withStep(state, fact.path, { ...openStep(state, fact.path), phase: "waiting", until: fact.until });
    case "step.retrying":
      return withStep(state, fact.path, { ...openStep(state, fact.path), phase: "retrying", until: fact.until });
    case "parts.opened": {
      const { count, first: next, limit, aggregator } = fact;
      const opened: FanOut = {
        kind: "fan_out",
        count,
        limit,
        aggregator,
        next,
        open: 0,
        failed: null,
        isCutOff: false,
      };
      return withScope(state, fact.path, opened);
    }
    case "part.begun":
      return beginPart(withScope(state, fact.path, atFirst), fact.path);
    case "part.ended":
      return endPart(withScope(state, fact.path, undefined), fact);
    case "step.ended":
      return endStep(withStep(withScope(state, fact.path, undefined), fact.path, undefined), fact);
    case "cancel.requested":
      return { ...state, isCancelling: true };
    case "steps.ended":
      return { ...withScope(state, ROOT, undefined), ending: fact.as, isCancelling: false };
    case "stage.begun":
      return { ...withScope(state, listOf[fact.stage], atFirst), stage: fact.stage };
    case "stage.ended":
      return withScope(state, listOf[fact.stage], undefined);
    case "run.ended":
      return { ...state, status: state.ending ?? "failed" };
    default:
      return fact satisfies never;
  }
}

function beginPart(state: State, path: string): State {
  const position = positionOf(path);
  const fanOut = fanOutAt(state, parentOf(path));
  const begun = { ...fanOut, open: fanOut.open + 1 };
  const isAggregator = position === fanOut.aggregator;
  return withScope(
    state,
    parentOf(path),
    // All others have been begun before it.
    isAggregator ? { ...begun, aggregator: null, next: fanOut.count } : { ...begun, next: position + 1 },
  );
}

function endPart(state: State, { path, as, tolerated }: Extract<Fact, { type: "part.ended" }>): State {
  const fanOut = fanOutAt(state, parentOf(path));
  const position = positionOf(path);
  const isFirst = as === "failed" && !tolerated && (fanOut.failed === null || position < fanOut.failed);
  return withScope(state, parentOf(path), {
    ...fanOut,
    open: fanOut.open - 1,
    failed: isFirst ? position : fanOut.failed,
    isCutOff: fanOut.isCutOff || as === "cut_off",
  });
}

function endStep(state: State, { path, as }: Extract<Fact, { type: "step.ended" }>): State {
  const sequence = sequenceAt(state, parentOf(path));
  const ended = { ...state, ended: state.ended + 1 };
  const moved = withScope(ended, parentOf(path), { ...sequence, at: positionOf(path) + 1 });
  return parentOf(path) === ROOT && as !== "succeeded" ? { ...moved, failed: path } : moved;
}

export function sequenceAt(state: State, path: string): Sequence {
  const scope = state.scopes[path];
  if (scope?.kind !== "sequence") throw new Error(`No list of steps is open at "${path}".`);
  return scope;
}

export function fanOutAt(state: State, path: string): FanOut {
  const scope = state.scopes[path];
  if (scope?.kind !== "fan_out") throw new Error(`No step has parts at "${path}".`);
  return scope;
}

function openStep(state: State, path: string): OpenStep {
  const open = state.steps[path];
  if (!open) throw new Error(`No step is open at "${path}".`);
  return open;
}

function withScope(state: State, path: string, scope: Sequence | FanOut | undefined): State {
  return { ...state, scopes: replaced(state.scopes, path, scope) };
}

function withStep(state: State, path: string, step: OpenStep | undefined): State {
  return { ...state, steps: replaced(state.steps, path, step) };
}

function replaced<Value>(
  values: Readonly<Record<string, Value>>,
  path: string,
  value: Value | undefined,
): Readonly<Record<string, Value>> {
  if (value !== undefined) return { ...values, [path]: value };
  if (!(path in values)) return values;
  const { [path]: _, ...rest } = values;
  return rest;
}
