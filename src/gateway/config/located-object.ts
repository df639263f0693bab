// A configuration that a program passes as an object, in the form in which files are read. Its places are 0.

import { DEEPEST, type LocatedNode, locatedValue, unusable } from "../../yaml/located-node.ts";
import type { LocatedValue, Place } from "../../yaml/place.ts";
import { createReport, type Report } from "../../yaml/report.ts";
import { TOO_DEEP } from "../../yaml/yaml-document.ts";
import { keyProblem, ODD_NUMBER, textProblem } from "../../yaml/yaml-nodes.ts";
import { configError } from "./config-error.ts";

/** A shared part counts as often as it is reached. */
const MOST_PARTS = 200_000;

/** Throws `gateway_config_invalid` for what cannot be written as JSON. */
export function locatedObject(value: unknown, file: string): LocatedValue {
  const report = createReport();
  const node = readObject(value, file, report);
  const problems = report.problems();
  if (problems.length > 0) throw configError(problems);
  return locatedValue(node);
}

/** What went wrong is in the report, and the parts that are wrong are null. */
export function readObject(value: unknown, file: string, report: Report): LocatedNode {
  const place: Place = { file, line: 0, column: 0 };
  let parts = 0;

  function build(part: unknown, path: string, depth: number): LocatedNode {
    parts++;
    if (part === null || typeof part === "boolean") return { kind: "scalar", place, value: part };
    if (typeof part === "string") return text(part, path);
    if (typeof part === "number") return number(part, path);
    if (typeof part !== "object") return refuse(path, "This is not a JSON value.");
    if (depth >= DEEPEST) return refuse(path, TOO_DEEP);
    if (parts + (Array.isArray(part) ? part.length : 0) > MOST_PARTS)
      return refuse("", `The configuration has more than ${MOST_PARTS} parts.`);
    if (Array.isArray(part)) {
      const items = Array.from(part, (item: unknown, at) => build(item ?? null, `${path}[${at}]`, depth + 1));
      return { kind: "list", place, items };
    }
    const prototype: unknown = Object.getPrototypeOf(part);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
      return refuse(path, "This is not a plain map.");
    return map(part, path, depth);
  }

  function map(part: object, path: string, depth: number): LocatedNode {
    const entries = new Map<string, LocatedNode>();
    for (const [key, entry] of Object.entries(part)) {
      const entryPath = path === "" ? key : `${path}.${key}`;
      const problem = keyProblem(key);
      if (problem !== undefined) refuse(path, problem);
      else if (entry !== undefined) entries.set(key, build(entry, entryPath, depth + 1));
    }
    return { kind: "map", place, entries };
  }

  function text(part: string, path: string): LocatedNode {
    const problem = textProblem(part);
    return problem === undefined ? { kind: "scalar", place, value: part } : refuse(path, problem);
  }

  function number(part: number, path: string): LocatedNode {
    return Number.isFinite(part) ? { kind: "scalar", place, value: part + 0 } : refuse(path, ODD_NUMBER);
  }

  function refuse(path: string, sentence: string): LocatedNode {
    report.problem(place, path === "" ? sentence : `${path}: ${sentence}`);
    return unusable(place);
  }

  try {
    return build(value, "", 0);
  } catch {
    return refuse("", "The configuration is an object that cannot be read.");
  }
}
