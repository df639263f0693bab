// `pipelines:` lists as they stand in the configuration, checked for form. Names are looked up by compile.ts.
import { hookSignals, type Trigger } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import { isMap } from "../../../contracts/json.ts";
import type { LocatedProblem, LocatedValue } from "../../../yaml/place.ts";
import type { PipelineDraft, StepDraft } from "./draft.ts";
import {
  choiceAt,
  isPresent,
  type LocatedMap,
  label,
  listAt,
  locate,
  mapBelow,
  report,
  reportUnknown,
  textAt,
  wholeNumberAt,
} from "./located-map.ts";
import { parseSteps } from "./parse-step.ts";
import { durationAt, predicateAt } from "./parse-values.ts";

export type ParsedPipelines =
  | { readonly drafts: readonly PipelineDraft[] }
  | { readonly problems: readonly LocatedProblem[] };

/** How long a synchronous caller waits when the pipeline does not say. */
export const DEFAULT_TIMEOUT_MS = 30_000;

const pipelineKeys = [
  ...["name", "on", "on-hook", "on_hook", "from_plugin", "if", "max_depth", "execution_mode", "timeout", "steps"],
];
/** Keys that other gateways know. */
const unsupported = ["only_between", "not_on", "relay"];

/** Reads `pipelines:` lists. Either every pipeline is well formed, or every problem is listed with its place. */
export function parsePipelines(sources: readonly LocatedValue[]): ParsedPipelines {
  const problems: LocatedProblem[] = [];
  const drafts = sources.flatMap((source) => parseList(source, problems));
  return problems.length > 0 ? { problems } : { drafts };
}

function parseList(source: LocatedValue, problems: LocatedProblem[]): PipelineDraft[] {
  const list: LocatedMap = { source, path: [], values: {}, label: "pipelines", problems };
  if (source.value === null || source.value === undefined) return [];
  if (!Array.isArray(source.value)) {
    report(list, "a list of pipelines is expected.");
    return [];
  }
  return source.value.flatMap((values: unknown, index) => {
    const map = {
      ...mapBelow(list, isMap(values) ? values : {}, index),
      label: `pipeline ${label(values, "name", `${index + 1} of the list`)}`,
    };
    if (isMap(values)) return parsePipeline(map) ?? [];
    report(map, "a map is expected.");
    return [];
  });
}

function parsePipeline(map: LocatedMap): PipelineDraft | undefined {
  reportUnknown(map, pipelineKeys, unsupported);
  const name = textAt(map, "name");
  if (!isPresent(map, "name")) report(map, `"name" is missing.`);
  const trigger = parseTrigger(map);
  const predicate = predicateAt(map, "trigger");
  const maxDepth = wholeNumberAt(map, "max_depth", 0);
  const executionMode = choiceAt(map, "execution_mode", ["async", "synchronous"]);
  const timeoutMs = durationAt(map, "timeout");
  const steps = parsePipelineSteps(map);
  if (name === undefined || trigger === undefined) return undefined;
  return {
    name,
    trigger,
    ...(predicate && { predicate }),
    ...(maxDepth !== undefined && { max_depth: maxDepth }),
    execution_mode: executionMode ?? "async",
    timeout_ms: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    steps,
    place: locate(map),
    places: { name: locate(map, "name"), from_plugin: locate(map, "from_plugin") },
  };
}

function parseTrigger(map: LocatedMap): Trigger | undefined {
  const keys = ["on", "on-hook", "on_hook"].filter((key) => isPresent(map, key));
  const [key, second] = keys;
  if (key === undefined) return report(map, `a trigger is missing: "on" or "on-hook".`);
  if (second !== undefined) return report(map, `"${key}" and "${second}" exclude each other.`, second);
  const fromPlugin = textAt(map, "from_plugin");
  const source = fromPlugin === undefined ? {} : { from_plugin: fromPlugin };
  if (key !== "on") {
    const signal = choiceAt(map, key, hookSignals);
    return signal && { on_hook: signal, ...source };
  }
  const eventType = textAt(map, "on");
  if (eventType?.includes("*")) {
    return report(map, `"on" is the exact type of an event; wildcards are not supported.`, "on");
  }
  return eventType === undefined ? undefined : { on: eventType, ...source };
}

function parsePipelineSteps(map: LocatedMap): readonly StepDraft[] {
  if (!isPresent(map, "steps")) {
    report(map, `"steps" is missing.`);
    return [];
  }
  const list = listAt(map, "steps");
  return list ? parseSteps(map, list, ["steps"]) : [];
}
