// The maps of several files as one configuration.
import { jsonEqual } from "../../contracts/gateway/json-equal.ts";
import { isNull, isUnusable, type LocatedNode, type MapNode, toJson } from "../../yaml/located-node.ts";
import { showPlace } from "../../yaml/place.ts";
import type { Report } from "../../yaml/report.ts";

export type MergedConfig = {
  /** Everything but the lists below: `plugins`, `service`, `api`, `state`, and what is not known. */
  readonly root: MapNode;
  /** Each key's values, one for every file that has it. */
  readonly lists: Readonly<Record<ListKey, readonly LocatedNode[]>>;
};

export const listKeys = ["plugin_roots", "webhooks", "pipelines", "routes"] as const;
export type ListKey = (typeof listKeys)[number];

/**
 * Plugins of all files together, each configured once; lists one after another; settings that two files have must be
 * equal.
 */
export function mergeMaps(maps: readonly MapNode[], report: Report): MergedConfig {
  const [first] = maps;
  const lists: Record<ListKey, LocatedNode[]> = { plugin_roots: [], webhooks: [], pipelines: [], routes: [] };
  const merged = new Map<string, LocatedNode>();
  for (const [key, node] of maps.flatMap(({ entries }) => [...entries])) {
    if (key === "include" || isNull(node) || isUnusable(node)) continue;
    if (isListKey(key)) lists[key].push(node);
    else merged.set(key, mergeEntry(key, merged.get(key), node, report));
  }
  const place = first?.place ?? { file: "", line: 0, column: 0 };
  return { root: { kind: "map", place, entries: merged }, lists };
}

function isListKey(key: string): key is ListKey {
  return listKeys.some((each) => each === key);
}

function mergeEntry(path: string, earlier: LocatedNode | undefined, later: LocatedNode, report: Report): LocatedNode {
  if (earlier === undefined) return later;
  if (earlier.kind !== "map" || later.kind !== "map") return requireEqual(path, earlier, later, report);
  const entries = new Map(earlier.entries);
  for (const [key, node] of later.entries) {
    const known = entries.get(key);
    if (known === undefined) entries.set(key, node);
    else if (path !== "plugins") requireEqual(`${path}.${key}`, known, node, report);
    else report.problem(node.place, `${path}.${key} is configured twice, first at ${showPlace(known.place)}.`);
  }
  return { ...earlier, entries };
}

function requireEqual(path: string, earlier: LocatedNode, later: LocatedNode, report: Report): LocatedNode {
  if (!isUnusable(earlier) && !isUnusable(later) && !jsonEqual(toJson(earlier), toJson(later))) {
    report.problem(later.place, `${path} has another value at ${showPlace(earlier.place)}.`);
  }
  return earlier;
}
