// The steps of a pipeline as they stand in the configuration, checked for form.
import type { StepRetry } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import { isMap, type JsonMap } from "../../../contracts/json.ts";
import type { Action, StepDraft, UsesAction } from "./draft.ts";
import {
  choiceAt,
  isPresent,
  type LocatedMap,
  label,
  listAt,
  locate,
  mapAt,
  mapBelow,
  type Path,
  report,
  reportUnknown,
  textAt,
  wholeNumberAt,
} from "./located-map.ts";
import { parseBaggage } from "./parse-baggage.ts";
import { durationAt, predicateAt } from "./parse-values.ts";

const actions = ["uses", "call", "steps", "split"] as const;
/** Keys that say something about the job of a plugin. */
const ofUses = ["with", "baggage", "command", "on_error", "timeout", "retry"] as const;
const stepKeys = ["id", "if", ...actions, ...ofUses];
/** Keys that other gateways know. */
const unsupported = ["relay", "only_between", "not_on"];

/** Groups and branches within each other. */
const DEEPEST = 32;

/** Reads the list of steps at a path of a pipeline or step. */
export function parseSteps(map: LocatedMap, list: readonly unknown[], path: Path, depth = 1): readonly StepDraft[] {
  return list.flatMap((values, index) => parseStepAt(map, values, [...path, index], depth) ?? []);
}

function parseStepAt(map: LocatedMap, values: unknown, path: Path, depth: number): StepDraft | undefined {
  const position = String(Number(path.at(-1)) + 1);
  const step = {
    ...mapBelow(map, isMap(values) ? values : {}, ...path),
    label: `${map.label}, step ${label(values, "id", position)}`,
  };
  if (depth > DEEPEST) return report(step, `steps are nested deeper than ${DEEPEST} levels.`);
  return isMap(values) ? parseStep(step, depth) : report(step, "a map is expected.");
}

function parseStep(map: LocatedMap, depth: number): StepDraft | undefined {
  reportUnknown(map, stepKeys, unsupported);
  const id = textAt(map, "id");
  const predicate = predicateAt(map, "step");
  const action = parseAction(map, depth);
  if (action === undefined) return undefined;
  return {
    ...(id !== undefined && { id }),
    ...(predicate && { predicate }),
    action,
    label: map.label,
    place: locate(map),
    places: {
      id: locate(map, "id"),
      action: locate(map, action.kind),
      command: locate(map, "command"),
      predicate: locate(map, "if"),
    },
  };
}

function parseAction(map: LocatedMap, depth: number): Action | undefined {
  const [kind, second] = actions.filter((key) => isPresent(map, key));
  if (kind === undefined) {
    if (isPresent(map, "relay")) return undefined;
    return report(map, `one of ${actions.join(", ")} is expected.`);
  }
  if (second !== undefined) {
    return report(map, `a step does one thing: "${kind}" and "${second}" exclude each other.`, second);
  }
  if (kind !== "uses") reportKeysOfUses(map, kind);
  switch (kind) {
    case "uses":
      return parseUses(map);
    case "call": {
      const pipeline = textAt(map, "call");
      return pipeline === undefined ? undefined : { kind, pipeline };
    }
    case "steps": {
      const list = listAt(map, "steps");
      return list && { kind, steps: parseSteps(map, list, ["steps"], depth + 1) };
    }
    case "split": {
      const list = listAt(map, "split");
      return list && { kind, branches: parseBranches(map, list, depth + 1) };
    }
    default:
      return kind satisfies never;
  }
}

function reportKeysOfUses(map: LocatedMap, kind: string): void {
  for (const key of ofUses.filter((each) => isPresent(map, each))) {
    report(map, `"${key}" belongs to a step with "uses", this one has "${kind}".`, key);
  }
}

/** A branch is a step, or a list of steps that follow each other. */
function parseBranches(map: LocatedMap, list: readonly unknown[], depth: number): readonly StepDraft[] {
  return list.flatMap((values, index): StepDraft | readonly StepDraft[] => {
    const path = ["split", index];
    if (!Array.isArray(values)) return parseStepAt(map, values, path, depth) ?? [];
    const branch = { ...map, label: `${map.label}, branch ${index + 1}` };
    if (values.length === 0) return report(branch, "it is empty.", ...path) ?? [];
    const place = locate(map, ...path);
    const steps = parseSteps(branch, values, path, depth + 1);
    const places = { id: place, action: place, command: place, predicate: place };
    return [{ action: { kind: "steps", steps }, label: branch.label, place, places }];
  });
}

function parseUses(map: LocatedMap): UsesAction | undefined {
  const plugin = textAt(map, "uses");
  const command = textAt(map, "command");
  const template = parseWith(map);
  const baggage = parseBaggage(map);
  const timeoutMs = durationAt(map, "timeout");
  const retry = parseRetry(map);
  const onError = choiceAt(map, "on_error", ["bridge", "none"]);
  if (plugin === undefined) return undefined;
  return {
    kind: "uses",
    plugin,
    ...(command !== undefined && { command }),
    ...(template && { with: template }),
    baggage,
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(retry && { retry }),
    ...(onError && { on_error: onError }),
  };
}

function parseWith(map: LocatedMap): JsonMap | undefined {
  // Located values were read from YAML, or checked to be JSON.
  return mapAt(map, "with") as JsonMap | undefined;
}

function parseRetry(map: LocatedMap): StepRetry | undefined {
  const values = mapAt(map, "retry");
  if (!values) return undefined;
  const retry = { ...mapBelow(map, values, "retry"), label: `${map.label}, retry` };
  reportUnknown(retry, ["max_attempts", "backoff"], []);
  const maxAttempts = wholeNumberAt(retry, "max_attempts", 1);
  const backoffMs = durationAt(retry, "backoff", 0);
  return {
    ...(maxAttempts !== undefined && { max_attempts: maxAttempts }),
    ...(backoffMs !== undefined && { backoff_base_ms: backoffMs }),
  };
}
