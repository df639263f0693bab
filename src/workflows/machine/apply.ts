// The one way in which a state changes.
import type { Fact } from "./facts.ts";
import { ON_FAILURE, parentOf, positionOf, ROLLBACK, ROOT } from "./path.ts";
import { type FanOut, initialState, type OpenStep, type Sequence, type State } from "./state.ts";

/** A state of its own, which facts change in place: what is open is copied once, and not for every fact. */
export type Draft = { -readonly [Key in keyof State]: State[Key] } & {
  scopes: Record<string, Sequence | FanOut>;
  steps: Record<string, OpenStep>;
};

export function draftOf(state: State): Draft {
  return { ...state, scopes: { ...state.scopes }, steps: { ...state.steps } };
}

/** The state that facts lead to. */
export function fold(facts: Iterable<Fact>): State {
  const state = draftOf(initialState);
  for (const fact of facts) apply(state, fact);
  return state;
}

/** Changes the state by one more fact. */
export function apply(state: Draft, fact: Fact): void {
  state.seq++;
  switch (fact.type) {
    case "run.started":
      state.scopes[ROOT] = { ...atFirst, at: fact.at ?? 0 };
      return;
    case "step.begun":
      state.steps[fact.path] = { attempt: fact.attempt, phase: "running", until: null };
      return;
    case "step.waiting":
      state.steps[fact.path] = { ...openStep(state, fact.path), phase: "waiting", until: fact.until };
      return;
    case "step.retrying":
      state.steps[fact.path] = { ...openStep(state, fact.path), phase: "retrying", until: fact.until };
      return;
    case "parts.opened": {
      const { path, count, first: next, limit, aggregator } = fact;
      delete state.steps[path];
      state.scopes[path] = {
        ...{ kind: "fan_out", count, limit, aggregator, next },
        ...{ open: 0, failed: null, isCutOff: false },
      };
      return;
    }
    case "part.begun":
      state.scopes[fact.path] = atFirst;
      beginPart(state, fact.path);
      return;
    case "part.ended":
      delete state.scopes[fact.path];
      endPart(state, fact);
      return;
    case "step.ended":
      delete state.scopes[fact.path];
      delete state.steps[fact.path];
      endStep(state, fact);
      return;
    case "step.kept":
      passStep(state, fact.path);
      return;
    case "cancel.requested":
      state.isCancelling = true;
      return;
    case "steps.ended":
      delete state.scopes[ROOT];
      state.ending = fact.as;
      state.isCancelling = false;
      return;
    case "stage.begun":
      state.scopes[listOf[fact.stage]] = atFirst;
      state.stage = fact.stage;
      state.isRolledBack ||= fact.stage === "rollback";
      return;
    case "stage.ended":
      delete state.scopes[listOf[fact.stage]];
      return;
    case "run.ended":
      state.status = state.ending ?? "failed";
      return;
    case "run.broken":
      Object.assign(state, { scopes: {}, steps: {}, isCancelling: false, ending: "failed", status: "failed" });
      return;
    case "run.reopened":
      Object.assign(state, { stage: "steps", status: "running", ending: null, failed: null });
      state.scopes[ROOT] = { ...atFirst, at: fact.at };
      return;
    default:
      fact satisfies never;
  }
}

const atFirst: Sequence = { kind: "sequence", at: 0 };
const listOf = { rollback: ROLLBACK, on_failure: ON_FAILURE } as const;

function beginPart(state: Draft, path: string): void {
  const position = positionOf(path);
  const fanOut = fanOutAt(state, parentOf(path));
  const begun = { ...fanOut, open: fanOut.open + 1 };
  state.scopes[parentOf(path)] =
    position === fanOut.aggregator
      ? // All others have been begun before it.
        { ...begun, aggregator: null, next: fanOut.count }
      : { ...begun, next: position + 1 };
}

function endPart(state: Draft, { path, as, tolerated }: Extract<Fact, { type: "part.ended" }>): void {
  const fanOut = fanOutAt(state, parentOf(path));
  const position = positionOf(path);
  const isFirst = as === "failed" && !tolerated && (fanOut.failed === null || position < fanOut.failed);
  state.scopes[parentOf(path)] = {
    ...fanOut,
    open: fanOut.open - 1,
    failed: isFirst ? position : fanOut.failed,
    isCutOff: fanOut.isCutOff || as === "cut_off",
  };
}

function endStep(state: Draft, { path, as }: Extract<Fact, { type: "step.ended" }>): void {
  passStep(state, path);
  state.ended++;
  if (parentOf(path) === ROOT && as !== "succeeded") state.failed = path;
}

/** The list that the step stands in goes on behind it. */
function passStep(state: Draft, path: string): void {
  const list = parentOf(path);
  state.scopes[list] = { ...sequenceAt(state, list), at: positionOf(path) + 1 };
}

export function sequenceAt({ scopes }: State, path: string): Sequence {
  const scope = scopes[path];
  if (scope?.kind !== "sequence") throw new Error(`No list of steps is open at "${path}".`);
  return scope;
}

export function fanOutAt({ scopes }: State, path: string): FanOut {
  const scope = scopes[path];
  if (scope?.kind !== "fan_out") throw new Error(`No step has parts at "${path}".`);
  return scope;
}

function openStep({ steps }: State, path: string): OpenStep {
  const open = steps[path];
  if (!open) throw new Error(`No step is open at "${path}".`);
  return open;
}
