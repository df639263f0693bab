// One map of the configuration, read key by key. What is wrong is collected with its place, so that an author sees
// every problem at once.
import { isMap, type UnknownMap } from "../../../contracts/json.ts";
import { isName } from "../../../contracts/storable-name.ts";
import type { LocatedProblem, LocatedValue, Place } from "../../../yaml/place.ts";
import { suggestion } from "./suggestion.ts";

export type LocatedMap = {
  readonly source: LocatedValue;
  readonly path: Path;
  readonly values: UnknownMap;
  /** What messages begin with: `pipeline "a", step "b"`. */
  readonly label: string;
  readonly problems: LocatedProblem[];
};

export type Path = readonly (string | number)[];

/** A key that is absent and one without a value are the same. */
export function valueAt({ values }: LocatedMap, key: string): unknown {
  return Object.hasOwn(values, key) ? (values[key] ?? undefined) : undefined;
}

export function isPresent(map: LocatedMap, key: string): boolean {
  return valueAt(map, key) !== undefined;
}

export function locate({ source, path }: LocatedMap, ...keys: Path): Place {
  return source.locate([...path, ...keys]);
}

export function report(map: LocatedMap, sentence: string, ...keys: Path): undefined {
  const { file, line, column } = locate(map, ...keys);
  map.problems.push({ file, line, column, message: `${map.label}: ${sentence}` });
  return undefined;
}

/** Reports every key that is not known, with the known one that is nearest. */
export function reportUnknown(map: LocatedMap, known: readonly string[], unsupported: readonly string[]): void {
  for (const key of Object.keys(map.values)) {
    if (known.includes(key)) continue;
    if (unsupported.includes(key)) report(map, `"${key}" is not supported.`, key);
    else report(map, `the key "${key}" is not known.${suggestion(key, known)}`, key);
  }
}

/** Longer names have no place in a list or an index. */
const LONGEST_TEXT = 256;
/** The most that anything is counted to. */
const MOST_COUNTED = 1_000_000;

/** A text that is not blank, and that names and event types can consist of. */
export function textAt(map: LocatedMap, key: string): string | undefined {
  const value = valueAt(map, key);
  if (value === undefined) return undefined;
  if (isName(value) && value.length <= LONGEST_TEXT) return value.trim();
  return report(map, `"${key}" has to be a text that is not blank, of ${LONGEST_TEXT} characters at most.`, key);
}

export function choiceAt<Choice extends string>(
  map: LocatedMap,
  key: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = valueAt(map, key);
  if (value === undefined) return undefined;
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  const near = typeof value === "string" ? suggestion(value, choices) : "";
  return report(map, `"${key}" has to be one of ${choices.join(", ")}.${near}`, key);
}

export function wholeNumberAt(map: LocatedMap, key: string, least: number): number | undefined {
  const value = valueAt(map, key);
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= MOST_COUNTED) return value;
  const negative = typeof value === "number" && value < 0 ? ", not a negative number" : "";
  return report(map, `"${key}" has to be a whole number from ${least} to ${MOST_COUNTED}${negative}.`, key);
}

/** A map below a key; anything else is reported. */
export function mapAt(map: LocatedMap, key: string): UnknownMap | undefined {
  const value = valueAt(map, key);
  if (value === undefined) return undefined;
  if (isMap(value)) return value;
  return report(map, `"${key}" has to be a map.`, key);
}

/** A list below a key that is not empty. */
export function listAt(map: LocatedMap, key: string): readonly unknown[] | undefined {
  const value = valueAt(map, key);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return report(map, `"${key}" has to be a list.`, key);
  return value.length > 0 ? value : report(map, `"${key}" is empty.`, key);
}

/** The name or id of a map in quotes, or how it is called without one. */
export function label(values: unknown, key: "name" | "id", unnamed: string): string {
  const name = isMap(values) ? values[key] : undefined;
  return typeof name === "string" && name.trim() !== "" ? JSON.stringify(name.trim().slice(0, LONGEST_TEXT)) : unnamed;
}

/** The map below a key. */
export function mapBelow(map: LocatedMap, values: UnknownMap, ...keys: Path): LocatedMap {
  return { ...map, path: [...map.path, ...keys], values };
}
