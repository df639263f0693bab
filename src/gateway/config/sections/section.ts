// Settings of one map of the configuration: each asked for by its key and kind, the rest reported as unknown.
// Problems name the setting and its place, and never a value: it may come from the environment.
import { parseDuration } from "../../../contracts/gateway/durations.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import { nearestName } from "../../../contracts/nearest-name.ts";
import {
  isNull,
  isUnusable,
  type LocatedNode,
  type MapNode,
  type ScalarNode,
  toJson,
} from "../../../yaml/located-node.ts";
import type { Place } from "../../../yaml/place.ts";
import type { Report } from "../../../yaml/report.ts";

export type Section = {
  readonly path: string;
  readonly place: Place;
  readonly keys: readonly string[];
  /** Whether a key has a value other than null. */
  has(key: string): boolean;
  /** Undefined when the setting is absent, null or depends on a variable that is not set. */
  node(key: string): LocatedNode | undefined;
  /** The readers below report what is not of their kind, and leave it undefined. */
  text(key: string): string | undefined;
  flag(key: string): boolean | undefined;
  count(key: string, bounds?: Bounds): number | undefined;
  /** Milliseconds. */
  duration(key: string, bounds?: Bounds): number | undefined;
  choice<Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined;
  /** A list of texts, or one of them. */
  texts(key: string): LocatedText[] | undefined;
  json(key: string): JsonMap | undefined;
  section(key: string): Section | undefined;
  sections(key: string): Section[];
  placeOf(key: string): Place;
  problem(key: string, sentence: string): undefined;
  /** About the section itself. */
  problemHere(sentence: string): undefined;
  warning(key: string, sentence: string): void;
  /** Warns of every key that no reader was asked for. */
  finish(): void;
};

export type Bounds = { readonly least?: number; readonly most?: number };

export type LocatedText = { readonly text: string; readonly place: Place };

/** No timer of the platform runs longer. */
export const LONGEST_TIMER_MS = 2_147_483_647;

const MOST_COUNTED = 1_000_000;

/** `path` is what the section is called in problems, empty at the top. */
export function openSection({ entries, place }: MapNode, path: string, report: Report): Section {
  const known = new Set<string>();
  const pathOf = (key: string) => (path === "" ? key : `${path}.${key}`);

  function node(key: string): LocatedNode | undefined {
    known.add(key);
    const entry = entries.get(key);
    if (entry === undefined || isNull(entry)) return undefined;
    return isUnusable(entry) ? undefined : entry;
  }

  function has(key: string): boolean {
    const entry = entries.get(key);
    return entry !== undefined && !isNull(entry);
  }

  function scalar(key: string, kind: string): ScalarNode | undefined {
    const entry = node(key);
    return entry === undefined || entry.kind === "scalar" ? entry : problem(key, `takes ${kind}.`);
  }

  function placeOf(key: string): Place {
    return entries.get(key)?.place ?? place;
  }

  function problem(key: string, sentence: string): undefined {
    report.problem(placeOf(key), `${pathOf(key)} ${sentence}`);
  }

  function problemHere(sentence: string): undefined {
    report.problem(place, `${path} ${sentence}`);
  }

  function text(key: string): string | undefined {
    const entry = scalar(key, "a text");
    if (entry === undefined) return undefined;
    if (typeof entry.value !== "string") return problem(key, "takes a text; put it in quotes.");
    return entry.value.trim() === "" ? problem(key, "is empty.") : entry.value;
  }

  function flag(key: string): boolean | undefined {
    const entry = scalar(key, "true or false");
    if (entry === undefined) return undefined;
    const value = typed(entry);
    return typeof value === "boolean" ? value : problem(key, "takes true or false.");
  }

  function count(key: string, { least = 1, most = MOST_COUNTED }: Bounds = {}): number | undefined {
    const kind = `a whole number from ${least} to ${most}`;
    const entry = scalar(key, kind);
    if (entry === undefined) return undefined;
    const value = typed(entry);
    const fits = typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
    return fits ? value : problem(key, `takes ${kind}.`);
  }

  function duration(key: string, { least = 1, most }: Bounds = {}): number | undefined {
    const entry = scalar(key, DURATION);
    if (entry === undefined) return undefined;
    const value = parseDuration(entry.value);
    if (value === undefined) return problem(key, `takes ${DURATION}.`);
    if (value < least) return problem(key, least === 1 ? "has to be longer than 0." : `takes at least ${least}ms.`);
    if (most !== undefined && value > most) return problem(key, `takes at most ${Math.floor(most / DAY)}d.`);
    return value;
  }

  function choice<Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined {
    const entry = scalar(key, choices.join(" or "));
    if (entry === undefined) return undefined;
    return choices.find((each) => each === entry.value) ?? problem(key, `takes ${choices.join(" or ")}.`);
  }

  function texts(key: string): LocatedText[] | undefined {
    const entry = node(key);
    return entry && readTexts(entry, `${pathOf(key)} takes a list of texts.`, report);
  }

  function json(key: string): JsonMap | undefined {
    const entry = node(key);
    if (entry === undefined) return undefined;
    return entry.kind === "map" ? (toJson(entry) as JsonMap) : problem(key, "takes a map.");
  }

  function section(key: string): Section | undefined {
    const entry = node(key);
    if (entry === undefined) return undefined;
    return entry.kind === "map" ? openSection(entry, pathOf(key), report) : problem(key, "takes a map.");
  }

  function sections(key: string): Section[] {
    const entry = node(key);
    if (entry === undefined) return [];
    if (entry.kind === "list") return openSections(entry.items, pathOf(key), report);
    problem(key, "takes a list of maps.");
    return [];
  }

  function finish(): void {
    for (const [key, entry] of entries) {
      if (known.has(key)) continue;
      const nearest = nearestName(key, known);
      const advice = nearest === undefined ? "it is ignored" : `did you mean ${nearest}? It is ignored`;
      report.warning(entry.place, `${pathOf(key)} is not a known setting; ${advice}.`);
    }
  }

  return {
    ...{ path, place, keys: [...entries.keys()], has, node, text, flag, count, duration, choice, texts, json },
    ...{ section, sections, placeOf, problem, problemHere, finish },
    warning: (key, sentence) => report.warning(placeOf(key), `${pathOf(key)} ${sentence}`),
  };
}

/** The texts of a list, or a single one. `sentence` is reported about everything else. */
export function readTexts(node: LocatedNode, sentence: string, report: Report): LocatedText[] {
  return (node.kind === "list" ? node.items : [node]).flatMap((item) => {
    if (isUnusable(item)) return [];
    const text = item.kind === "scalar" && typeof item.value === "string" ? item.value : "";
    if (text.trim() !== "") return [{ text, place: item.place }];
    report.problem(item.place, sentence);
    return [];
  });
}

/** Items of a list that have to be maps. */
export function openSections(items: readonly LocatedNode[], path: string, report: Report): Section[] {
  return items.flatMap((item, index) => {
    const itemPath = `${path}[${index}]`;
    if (item.kind === "map") return [openSection(item, itemPath, report)];
    if (isUnusable(item)) return [];
    report.problem(item.place, `${itemPath} is not a map.`);
    return [];
  });
}

const DAY = 86_400_000;
const DURATION = "a duration such as 500ms, 30s, 5m, 24h or 7d";

/** A variable holds text; where a number or a boolean is due, it is read as one. */
function typed({ value, origin }: ScalarNode): ScalarNode["value"] {
  if (origin !== "environment" || typeof value !== "string") return value;
  const text = value.trim();
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  return text === "true" ? true : text === "false" ? false : value;
}
