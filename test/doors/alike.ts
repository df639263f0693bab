// Whether two answers tell the same apart from the names that were asked with: what differs between the two is what a
// stranger learns.
import type { Answer } from "../served-runtime.ts";

/** What is made anew each time: ids, times, and where in a thread something is. */
const fresh = [
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
  /\b(?:action|request|bridge|run)[-_][0-9a-f]{32}\b/g,
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g,
  /"(?:created|updated)_at":\d+/g,
  /"(?:grant_id|token_id|hash|bytes)":(?:\d+|"[^"]*")/g,
];

/** The answer with a star for every name in it, and for whatever is never the same twice. */
export function withoutNames({ status, text }: Pick<Answer, "status" | "text">, names: readonly string[]): string {
  const longestFirst = names.toSorted((one, other) => other.length - one.length);
  let told = text;
  for (const name of longestFirst) {
    // A number is a name only where it stands for itself.
    told = /^\d+$/.test(name) ? told.replaceAll(new RegExp(`\\b${name}\\b`, "g"), "*") : told.replaceAll(name, "*");
  }
  for (const pattern of fresh) told = told.replaceAll(pattern, "*");
  return `${status} ${told}`;
}

/** Every text and number in a value: the names that stand in it. */
export function namesIn(value: unknown): readonly string[] {
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(namesIn) : [];
}
