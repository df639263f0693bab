// Which case of a branch is taken.
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import { evaluatePredicate, type Predicate } from "../../contracts/predicates/predicate.ts";
import { readWhen, stepsInPredicate } from "../../contracts/workflows/own-steps.ts";
import { contextOf } from "./context.ts";
import type { Parts } from "./open-parts.ts";
import { Unread } from "./unread.ts";
import { stepAt, type Working } from "./working.ts";

/** The first case that holds, or what is done otherwise, as the only part; no part at all when there is neither. */
export function chosenPart(working: Working, path: string): Parts {
  const step = stepAt(working, path);
  const cases = (Array.isArray(step.cases) ? step.cases : []).filter(isMap) as JsonMap[];
  for (const [chosen, { when = null }] of cases.entries()) {
    const read = readWhen(when);
    if ("problem" in read) return { error: invalid(read.problem) };
    try {
      if (holds(working, path, read.predicate)) return { chosen, first: chosen, count: chosen + 1, ...one };
    } catch (thrown) {
      if (thrown instanceof Unread) throw thrown;
      return { error: invalid(errorMessage(thrown)) };
    }
  }
  const chosen = cases.length;
  return Array.isArray(step.else)
    ? { chosen, first: chosen, count: chosen + 1, ...one }
    : { first: 0, count: 0, ...one };
}

const one = { limit: 1, aggregator: null };

function holds(working: Working, path: string, predicate: Predicate): boolean {
  const { inputs, steps, vars } = contextOf(working, path, stepsInPredicate(predicate));
  return evaluatePredicate(predicate, { inputs, steps, vars });
}

function invalid(message: string): JsonMap {
  return { code: "invalid_predicate", message };
}
