// A file as it was written: its parts, and where each of them stands.
import type { Json, Scalar } from "../contracts/json.ts";
import type { LocatedValue, Place } from "./place.ts";

/** The place of an entry of a map is that of its key; of everything else, where it begins. */
export type LocatedNode = MapNode | ListNode | ScalarNode;

export type MapNode = {
  readonly kind: "map";
  readonly place: Place;
  readonly entries: ReadonlyMap<string, LocatedNode>;
};

export type ListNode = { readonly kind: "list"; readonly place: Place; readonly items: readonly LocatedNode[] };

export type ScalarNode = {
  readonly kind: "scalar";
  readonly place: Place;
  readonly value: Scalar;
  /**
   * `environment`: the text holds the value of a variable and is never shown. `unusable`: what was written here cannot
   * be used, which is reported already.
   */
  readonly origin?: "environment" | "unusable";
};

/** Maps and lists inside one another; deeper is refused. */
export const DEEPEST = 100;

export function isNull(node: LocatedNode): boolean {
  return node.kind === "scalar" && node.value === null && node.origin === undefined;
}

export function isUnusable(node: LocatedNode): boolean {
  return node.kind === "scalar" && node.origin === "unusable";
}

/** Stands in for what cannot be used. */
export function unusable(place: Place): ScalarNode {
  return { kind: "scalar", place, value: null, origin: "unusable" };
}

/** The plain value, without places. */
export function toJson(node: LocatedNode): Json {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(toJson);
  return Object.fromEntries([...node.entries].map(([key, entry]) => [key, toJson(entry)]));
}

/** The plain value, and a way to ask for the place of each part. */
export function locatedValue(node: LocatedNode): LocatedValue {
  return { value: toJson(node), locate: (path) => locate(node, path) };
}

function locate(node: LocatedNode, path: readonly (string | number)[]): Place {
  const [first, ...rest] = path;
  if (first === undefined || node.kind === "scalar") return node.place;
  const part = node.kind === "list" ? node.items[Number(first)] : node.entries.get(String(first));
  return part === undefined ? node.place : locate(part, rest);
}
