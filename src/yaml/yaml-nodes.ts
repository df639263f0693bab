// The parser's nodes to ours: plain values with places, aliases put in, what JSON or a program cannot hold refused.
import { type Alias, isAlias, isMap, isScalar, isSeq, type Pair, Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { DEEPEST, isUnusable, type LocatedNode, type MapNode, type ScalarNode, unusable } from "./located-node.ts";
import type { Place } from "./place.ts";
import type { ProblemReport, YamlCode } from "./report.ts";
import { TOO_DEEP, type YamlDocument } from "./yaml-document.ts";

/** All aliases of a file together stand for at most as many parts. */
const MOST_ALIASED = 10_000;

// Without the name: it may be a password that should have been in quotes.
const NO_ANCHOR = "There is no anchor for this alias before it; put a text that begins with * in quotes.";

const UNSAFE_NUMBER = "This whole number is too large to be exact; put it in quotes.";
export const ODD_NUMBER = "NaN and infinity cannot be written as JSON.";

/** Why a text can neither be stored nor sent; undefined when it can. */
export function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "This text holds a NUL character.";
  return text.isWellFormed() ? undefined : "This text holds half of a surrogate pair.";
}

export function keyProblem(key: string): string | undefined {
  return key === "__proto__" ? "A key cannot be __proto__." : textProblem(key);
}

/** A node, the parts it has, and how deep they go: what an alias to it adds. */
type Built = { readonly node: LocatedNode; readonly parts: number; readonly height: number };

/** What went wrong is in the report, and the parts that are wrong are null. */
export function readYamlNodes({ contents, placeAt }: YamlDocument, report: ProblemReport): LocatedNode {
  /** `open` while the anchored node itself is read. */
  const anchors = new Map<string, Built | "open">();
  let aliased = 0;

  function build(node: unknown, depth: number, fallback: Place): Built {
    if (isAlias(node)) return resolve(node, depth, placeOf(node, fallback));
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor !== undefined) anchors.set(anchor, "open");
    const built = buildPlain(node, depth, placeOf(node, fallback));
    if (anchor !== undefined) anchors.set(anchor, built);
    return built;
  }

  function buildPlain(node: unknown, depth: number, place: Place): Built {
    if (!isMap(node) && !isSeq(node)) return leaf(isScalar(node) ? scalar(node, place) : nothing(place));
    if (depth >= DEEPEST) return refuse(place, TOO_DEEP, "nested_too_deep");
    return isMap(node) ? buildMap(node, depth, place) : buildList(node, depth, place);
  }

  function buildList(list: YAMLSeq, depth: number, place: Place): Built {
    const items = list.items.map((item) => build(item, depth + 1, place));
    return { node: { kind: "list", place, items: items.map(({ node }) => node) }, ...extent(items) };
  }

  function buildMap(map: YAMLMap, depth: number, place: Place): Built {
    const entries = new Map<string, LocatedNode>();
    const merged: MapNode[] = [];
    const built: Built[] = [];
    for (const pair of map.items) {
      const keyPlace = placeOf(pair.key, place);
      const key = readKey(pair, keyPlace);
      if (key === undefined) continue;
      const value = build(pair.value, depth + 1, keyPlace);
      built.push(value);
      if (isMergeKey(pair)) for (const defaults of mergedMaps(value.node, keyPlace)) merged.push(defaults);
      else if (entries.has(key)) report.problem(keyPlace, `The key ${key} stands twice in this map.`, "duplicate_key");
      else entries.set(key, { ...value.node, place: keyPlace });
    }
    for (const { entries: defaults } of merged) {
      for (const [key, entry] of defaults) if (!entries.has(key)) entries.set(key, entry);
    }
    return { node: { kind: "map", place, entries }, ...extent(built) };
  }

  function readKey({ key }: Pair, place: Place): string | undefined {
    if (!isScalar(key) || typeof key.value !== "string") {
      report.problem(place, "A key is a text; put it in quotes.");
      return undefined;
    }
    if (key.anchor !== undefined) anchors.set(key.anchor, leaf({ kind: "scalar", place, value: key.value }));
    const problem = keyProblem(key.value);
    if (problem !== undefined) report.problem(place, problem, key.value === "__proto__" ? "unsafe_key" : "not_text");
    return problem === undefined ? key.value : undefined;
  }

  function mergedMaps(node: LocatedNode, place: Place): MapNode[] {
    const maps = node.kind === "list" ? node.items : [node];
    const usable = maps.filter((map) => map.kind === "map");
    if (maps.some((map) => map.kind !== "map" && !isUnusable(map)))
      report.problem(place, "The key << takes a map, or a list of maps.");
    return usable;
  }

  function resolve(alias: Alias, depth: number, place: Place): Built {
    const source = anchors.get(alias.source);
    if (source === undefined) return refuse(place, NO_ANCHOR, "unknown_alias");
    if (source === "open") return refuse(place, "This alias stands inside what it repeats.", "alias_in_itself");
    aliased += source.parts;
    if (aliased > MOST_ALIASED) {
      return refuse(place, `Aliases repeat more than ${MOST_ALIASED} parts in this file.`, "too_many_aliases");
    }
    if (depth + source.height > DEEPEST) return refuse(place, TOO_DEEP, "nested_too_deep");
    return source;
  }

  function scalar({ value }: Scalar, place: Place): ScalarNode {
    const problem = scalarProblem(value);
    if (problem === undefined) return { kind: "scalar", place, value: plain(value) };
    report.problem(place, problem);
    return unusable(place);
  }

  function refuse(place: Place, sentence: string, code: YamlCode): Built {
    report.problem(place, sentence, code);
    return leaf(unusable(place));
  }

  function placeOf(node: unknown, fallback: Place): Place {
    const range = isAlias(node) || isScalar(node) || isMap(node) || isSeq(node) ? node.range : undefined;
    return range == null ? fallback : placeAt(range[0]);
  }

  return build(contents, 0, placeAt(0)).node;
}

function scalarProblem(value: unknown): string | undefined {
  if (typeof value === "string") return textProblem(value);
  if (typeof value !== "number") return undefined;
  if (!Number.isFinite(value)) return ODD_NUMBER;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? UNSAFE_NUMBER : undefined;
}

function plain(value: unknown): ScalarNode["value"] {
  if (typeof value === "number") return value + 0; // the sum of -0 and 0 is 0, as JSON has it
  return typeof value === "string" || typeof value === "boolean" ? value : null;
}

function isMergeKey({ key }: Pair): boolean {
  return isScalar(key) && key.value === "<<" && key.type === Scalar.PLAIN;
}

function nothing(place: Place): ScalarNode {
  return { kind: "scalar", place, value: null };
}

function leaf(node: LocatedNode): Built {
  return { node, parts: 1, height: 0 };
}

function extent(parts: readonly Built[]): { parts: number; height: number } {
  let [count, height] = [1, 0];
  for (const part of parts) {
    count += part.parts;
    height = Math.max(height, part.height);
  }
  return { parts: count, height: height + 1 };
}
