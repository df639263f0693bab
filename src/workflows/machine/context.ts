// What the bindings of a step see: the inputs of the run, the outputs of earlier steps, and the variables of the items and
// branches that it stands in.
import { emptyMap, type Json, type JsonMap } from "../../contracts/json.ts";
import type { BindingContext } from "../../contracts/workflows/bindings.ts";
import { isAggregator, outputsOfBranches } from "./outputs.ts";
import { below, isTopList, ON_FAILURE, parentOf, positionOf, ROLLBACK, ROOT } from "./path.ts";
import { bodyOf, branchesOf, isParallel, kindOf, namesOf, stepAt, stepsAt, undoneBy, type Working } from "./working.ts";

/**
 * The context of a step, with the outputs of those steps only that are asked for: a run may have thousands. Without a list of
 * ids it has all of them.
 */
export function contextOf(working: Working, path: string, ids?: Iterable<string>): BindingContext {
  const places = sequencesAround(working, path);
  const outputs = ids ? named(working, places, ids) : all(working, places);
  return { inputs: working.inputs, steps: Object.fromEntries(outputs), vars: variables(working, path) };
}

/** A list of steps that a step can refer to, as far as it has run. */
type Place = { readonly path: string; readonly until: number };

/** From the step's own list outwards. The branches of a parallel step see nothing of what is around it. */
function sequencesAround(working: Working, path: string): Place[] {
  const places: Place[] = [];
  for (let step = path; ; ) {
    const sequence = parentOf(step);
    if (sequence === ROLLBACK) {
      // What undoes a step sees what that has seen.
      step = undoneBy(working, step);
      continue;
    }
    places.push({ path: sequence, until: positionOf(step) });
    if (sequence === ON_FAILURE) places.push({ path: ROOT, until: working.steps.length });
    if (isTopList(sequence) || isIsolated(working, parentOf(sequence))) return places;
    step = parentOf(sequence);
  }
}

function* named(working: Working, places: readonly Place[], ids: Iterable<string>): Iterable<Output> {
  for (const id of ids) {
    for (const { path, until } of places) {
      const position = positionIn(stepsAt(working, path), id);
      if (position === undefined || position >= until) continue;
      yield outputAt(working, below(path, position), id);
      break;
    }
  }
}

function all(working: Working, places: readonly Place[]): Iterable<Output> {
  const outputs = new Map<string, Output[1]>();
  // Those of the inner lists come last and win, also by having failed.
  for (const { path, until } of [...places].reverse()) {
    const steps = stepsAt(working, path);
    for (let position = 0; position < until; position++) {
      const id = steps[position]?.id;
      const at = below(path, position);
      if (typeof id !== "string") continue;
      if (bodyOf(working, at).status === "succeeded") outputs.set(...outputAt(working, at, id));
      else outputs.delete(id);
    }
  }
  return outputs;
}

type Output = readonly [id: string, value: { readonly output: Json }];

function outputAt(working: Working, path: string, id: string): Output {
  return [id, { output: bodyOf(working, path).output ?? null }];
}

const positions = new WeakMap<readonly JsonMap[], ReadonlyMap<unknown, number>>();

function positionIn(steps: readonly JsonMap[], id: string): number | undefined {
  let known = positions.get(steps);
  if (!known) {
    known = new Map(steps.map((step, position) => [step.id, position]));
    positions.set(steps, known);
  }
  return known.get(id);
}

/** The variables that a step sees. */
function variables(working: Working, path: string): JsonMap {
  const sequence = parentOf(path);
  if (sequence === ROOT) return working.vars;
  if (sequence === ON_FAILURE) return { ...working.vars, error: bodyOf(working, ROOT).error ?? null };
  if (sequence === ROLLBACK) {
    const undone = undoneBy(working, path);
    const { output = null, resolved = emptyMap } = bodyOf(working, undone);
    return { ...variables(working, undone), output, input: resolved };
  }
  const container = parentOf(sequence);
  const own = variablesOfPart(working, container, positionOf(sequence));
  return isIsolated(working, container) ? own : { ...variables(working, container), ...own };
}

function variablesOfPart(working: Working, container: string, position: number): JsonMap {
  const step = stepAt(working, container);
  const { resolved = emptyMap, items = [] } = bodyOf(working, container);
  const kind = kindOf(working, step);
  if (kind === "branch") return emptyMap;
  if (kind === "roles") return branchVariables(working, container, position);
  const { as, index_as } = namesOf(resolved);
  return { [as]: items[position] ?? null, [index_as]: position };
}

function branchVariables(working: Working, container: string, position: number): JsonMap {
  const { resolved = emptyMap } = bodyOf(working, container);
  const { steps: _, ...role } = branchesOf(resolved)[position] ?? emptyMap;
  const outputs = isAggregator(role) ? outputsOfBranches(working, container) : emptyMap;
  return {
    context: resolved.context ?? emptyMap,
    role,
    ...(Object.keys(outputs).length > 0 && { branch_outputs: outputs }),
  };
}

function isIsolated(working: Working, container: string): boolean {
  return isParallel(kindOf(working, stepAt(working, container)));
}
