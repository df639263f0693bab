// Where secrets stand in a value: at keys whose names give them away, and at the places that somebody has marked.
import { isMap, type Json } from "../../contracts/json.ts";
import { isSensitiveKey } from "../../contracts/tools/sensitive-keys.ts";

/** The marked places of a value, as a tree: what is hidden whole, and what is hidden further down. */
export type SecretMarks = {
  readonly isHidden: boolean;
  readonly named: ReadonlyMap<string, SecretMarks>;
  /** Of every item of a list and every value of a map. */
  readonly each: SecretMarks | undefined;
};

/** The tree of dotted paths, where `*` stands for whatever is there and nothing for the value itself. */
export function secretMarks(paths: readonly string[]): SecretMarks | undefined {
  if (paths.length === 0) return undefined;
  const root = newNode();
  for (const path of paths) {
    let node = root;
    for (const part of path === "" ? [] : path.split(".")) node = childOf(node, part);
    node.isHidden = true;
  }
  return root;
}

type Node = { isHidden: boolean; named: Map<string, Node>; each: Node | undefined };

function newNode(): Node {
  return { isHidden: false, named: new Map(), each: undefined };
}

function childOf(node: Node, part: string): Node {
  if (part === "*") {
    node.each ??= newNode();
    return node.each;
  }
  const child = node.named.get(part) ?? newNode();
  node.named.set(part, child);
  return child;
}

/** The marks below a key; several may meet there. */
export function marksAt(marks: SecretMarks | undefined, key: string): SecretMarks | undefined {
  const named = marks?.named.get(key);
  const each = marks?.each;
  if (!named || !each) return named ?? each;
  return {
    isHidden: named.isHidden || each.isHidden,
    named: new Map([...each.named, ...named.named]),
    each: named.each ?? each.each,
  };
}

const names = new Map<string, boolean>();
const MOST_NAMES = 10_000;

/** The same keys come again and again, in rows of results and in calls of one tool. */
export function isSecretName(key: string): boolean {
  const known = names.get(key);
  if (known !== undefined) return known;
  const isSecret = isSensitiveKey(key);
  if (names.size < MOST_NAMES && key.length < 100) names.set(key, isSecret);
  return isSecret;
}

type Found = (secret: string | number, key: string) => void;

/** Tells of every text and number that stands where secrets do. True when there was such a place, whatever stood there. */
export function findSecrets(value: Json, marks: SecretMarks | undefined, found: Found): boolean {
  if (marks?.isHidden) return tellAll(value, "", found);
  if (typeof value !== "object" || value === null) return false;
  let holds = false;
  if (!isMap(value)) {
    for (const item of value as readonly Json[]) if (findSecrets(item, marks?.each, found)) holds = true;
    return holds;
  }
  for (const key of Object.keys(value)) {
    const item = value[key] as Json;
    const below = marks && marksAt(marks, key);
    if (isSecretName(key) || below?.isHidden) holds = tellAll(item, key, found);
    else if (findSecrets(item, below, found)) holds = true;
  }
  return holds;
}

function tellAll(value: Json, key: string, found: Found): true {
  if (typeof value === "string" || typeof value === "number") found(value, key);
  else if (Array.isArray(value)) for (const item of value) tellAll(item, key, found);
  else if (isMap(value)) for (const [name, item] of Object.entries(value)) tellAll(item as Json, name, found);
  return true;
}
