// `routes:`, an older form of pipelines: each is compiled into a pipeline with one step.
import { isMap } from "../../../contracts/json.ts";
import type { LocatedProblem, LocatedValue } from "../../../yaml/place.ts";
import type { PipelineDraft } from "./draft.ts";
import { isPresent, type LocatedMap, locate, mapBelow, report, reportUnknown, textAt } from "./located-map.ts";
import { DEFAULT_TIMEOUT_MS } from "./parse-pipelines.ts";

export type ParsedRoutes =
  | { readonly drafts: readonly PipelineDraft[]; readonly warnings: readonly LocatedProblem[] }
  | { readonly problems: readonly LocatedProblem[] };

const keys = ["from", "event_type", "to"] as const;

/** Reads `routes:` lists. A route that is listed twice counts once. */
export function parseRoutes(sources: readonly LocatedValue[]): ParsedRoutes {
  const problems: LocatedProblem[] = [];
  const drafts = sources.flatMap((source) => parseList(source, problems));
  if (problems.length > 0) return { problems };
  const byName = new Map(drafts.toReversed().map((draft) => [draft.name, draft]));
  const unique = drafts.filter((draft) => byName.get(draft.name) === draft);
  return { drafts: unique, warnings: drafts.map((draft) => olderForm(draft, unique.includes(draft))) };
}

function olderForm({ name, place }: PipelineDraft, isFirst: boolean): LocatedProblem {
  const message = isFirst
    ? `routes: is the older form of pipelines; this one is compiled into the pipeline "${name}".`
    : `routes: "${name}" is listed before; this one is left out.`;
  return { ...place, message };
}

function parseList(source: LocatedValue, problems: LocatedProblem[]): PipelineDraft[] {
  const list: LocatedMap = { source, path: [], values: {}, label: "routes", problems };
  if (source.value === null || source.value === undefined) return [];
  if (!Array.isArray(source.value)) {
    report(list, "a list of routes is expected.");
    return [];
  }
  return source.value.flatMap((values: unknown, index) => {
    const map = { ...mapBelow(list, isMap(values) ? values : {}, index), label: `route ${index + 1} of the list` };
    return isMap(values) ? (parseRoute(map) ?? []) : (report(map, "a map is expected.") ?? []);
  });
}

function parseRoute(map: LocatedMap): PipelineDraft | undefined {
  reportUnknown(map, keys, []);
  for (const key of keys) if (!isPresent(map, key)) report(map, `"${key}" is missing.`);
  const [from, type, to] = keys.map((key) => textAt(map, key));
  if (from === undefined || type === undefined || to === undefined) return undefined;
  if (type.includes("*")) {
    return report(map, `"event_type" is the exact type of an event; wildcards are not supported.`, "event_type");
  }
  const name = `route ${from} ${type} ${to}`;
  const place = locate(map);
  const target = locate(map, "to");
  const places = { id: target, action: target, command: target, predicate: target };
  return {
    name,
    trigger: { on: type, from_plugin: from },
    execution_mode: "async",
    timeout_ms: DEFAULT_TIMEOUT_MS,
    steps: [{ action: { kind: "uses", plugin: to, baggage: [] }, label: `pipeline "${name}", step 1`, place, places }],
    place,
    places: { name: place, from_plugin: locate(map, "from") },
  };
}
