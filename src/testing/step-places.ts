// Where the steps of a spec stand: the ids that lead to each, as functions of a workflow in TypeScript are named.
import { isMap, type Json, type JsonMap } from "../contracts/json.ts";
import { undoOf } from "../contracts/workflows/step-options.ts";

type Rewrite = (step: JsonMap, place: string) => JsonMap;

/** The spec with what is made of each step; steps inside one that became another are gone. */
export function rewritten(spec: JsonMap, rewrite: Rewrite): JsonMap {
  return {
    ...spec,
    // Steps of a spec may also stand under keys.
    ...(spec.steps !== undefined && { steps: listIn(Object.values(spec.steps ?? []), "", rewrite) }),
    ...(Array.isArray(spec.on_failure) && { on_failure: listIn(spec.on_failure, "", rewrite) }),
  };
}

/** All places, those that stand for two steps as often as that. */
export function eachPlace(spec: JsonMap): readonly string[] {
  const places: string[] = [];
  rewritten(spec, (step, place) => {
    places.push(place);
    return step;
  });
  return places;
}

function listIn(steps: Json, around: string, rewrite: Rewrite): Json {
  if (!Array.isArray(steps)) return steps;
  return steps.map((step: Json) => (isMap(step) ? stepIn(step as JsonMap, joined(around, step.id), rewrite) : step));
}

function stepIn(given: JsonMap, place: string, rewrite: Rewrite): JsonMap {
  const step = rewrite(given, place);
  const undo = undoOf(step);
  return { ...inner(step, place, rewrite), ...(undo && { undo: stepIn(undo, `${place}.undo`, rewrite) }) };
}

function inner(step: JsonMap, place: string, rewrite: Rewrite): JsonMap {
  const { type, steps = null, branches = null, cases = null } = step;
  const own = steps === null ? {} : { steps: listIn(steps, place, rewrite) };
  switch (type) {
    case "foreach":
      return { ...step, ...own };
    case "parallel":
      return { ...step, ...own, ...(branches !== null && { branches: holdersIn(branches, place, rewrite, "role") }) };
    case "branch": {
      const otherwise = Array.isArray(step.else) && { else: listIn(step.else, joined(place, "else"), rewrite) };
      return { ...step, cases: holdersIn(cases, place, rewrite), ...otherwise };
    }
    default:
      return step;
  }
}

/** Branches go by what stands under `key`, cases by their positions. */
function holdersIn(holders: Json, place: string, rewrite: Rewrite, key?: string): Json {
  if (!Array.isArray(holders)) return holders;
  return holders.map((holder: Json, position) => {
    if (!isMap(holder)) return holder;
    const within = joined(place, key === undefined ? position : holder[key]);
    return { ...holder, steps: listIn((holder as JsonMap).steps ?? null, within, rewrite) } as JsonMap;
  });
}

function joined(around: string, id: unknown): string {
  return around === "" ? String(id) : `${around}/${String(id)}`;
}
