// Values of pipelines and steps whose form is defined by the contracts.
import { parseDuration } from "../../../contracts/gateway/durations.ts";
import type { Predicate } from "../../../contracts/predicates/predicate.ts";
import { validatePredicate } from "../../../contracts/predicates/predicate.ts";
import { LONGEST_TIMER_MS } from "../../config/sections/section.ts";
import { type LocatedMap, report, valueAt } from "./located-map.ts";

/** Milliseconds of a duration below a key, not longer than a timer can run. */
export function durationAt(map: LocatedMap, key: string, least = 1): number | undefined {
  const value = valueAt(map, key);
  if (value === undefined) return undefined;
  const duration = parseDuration(value);
  if (duration !== undefined && duration >= least && duration <= LONGEST_TIMER_MS) return duration;
  return report(map, `"${key}" has to be a duration such as 500ms, 30s or 1h30m, of 24 days at most.`, key);
}

/** The `if` of a pipeline reads the event and the context it was emitted in, that of a step the configuration too. */
const roots = { trigger: ["payload", "context"], step: ["payload", "context", "config"] } as const;

export function predicateAt(map: LocatedMap, of: keyof typeof roots): Predicate | undefined {
  if (!Object.hasOwn(map.values, "if")) return undefined;
  const check = validatePredicate(map.values.if, roots[of]);
  return check.valid ? check.predicate : report(map, `"if" is not valid: ${check.problem}`, "if");
}
