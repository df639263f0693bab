// What a step claims for the context of its pipeline instance, as it stands in the configuration.
import { baggagePathProblem } from "../../../contracts/gateway/pipelines/context.ts";
import type { Claim } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import { parsePath } from "../../../contracts/predicates/paths.ts";
import { isPresent, type LocatedMap, mapAt, mapBelow, report, reportUnknown, textAt } from "./located-map.ts";

/** Reads `baggage`: a map of context paths to sources, or the bulk form with `from` and `namespace`. */
export function parseBaggage(map: LocatedMap): readonly Claim[] {
  const values = mapAt(map, "baggage");
  if (!values) return [];
  const baggage = { ...mapBelow(map, values, "baggage"), label: `${map.label}, baggage` };
  const isBulk = Object.hasOwn(values, "from") || Object.hasOwn(values, "namespace");
  return isBulk ? parseBulk(baggage) : Object.keys(values).flatMap((path) => parseClaim(baggage, path) ?? []);
}

function parseClaim(baggage: LocatedMap, path: string): Claim | undefined {
  const problem = baggagePathProblem(path);
  if (problem !== undefined) return report(baggage, problem, path);
  if (!isPresent(baggage, path)) return report(baggage, `"${path}" names no source.`, path);
  const from = textAt(baggage, path);
  if (from === undefined) return undefined;
  if (parsePath(from, ["payload", "context"])) return { path, from };
  return report(baggage, `"${path}" has to come from payload.<path> or context.<path>, not from "${from}".`, path);
}

/** The bulk form needs a namespace: without one, any key could appear at the root of the context. */
function parseBulk(baggage: LocatedMap): readonly Claim[] {
  reportUnknown(baggage, ["from", "namespace"], []);
  for (const key of ["from", "namespace"]) {
    if (!isPresent(baggage, key)) report(baggage, `"from" and "namespace" belong together: "${key}" is missing.`);
  }
  const from = textAt(baggage, "from");
  const namespace = textAt(baggage, "namespace");
  if (from !== undefined && from !== "payload" && !parsePath(from, ["payload"])) {
    report(baggage, `"from" has to be payload or payload.<path>, not "${from}".`, "from");
  }
  const problem = namespace === undefined ? undefined : baggagePathProblem(namespace);
  if (problem !== undefined) report(baggage, problem, "namespace");
  return from === undefined || namespace === undefined ? [] : [{ namespace, from }];
}
