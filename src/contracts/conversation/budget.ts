// A named ceiling on how often something may happen in a run. A budget is data; counting makes a new one.
import { trimmed, wholeNumber } from "../coerce.ts";
import { isMap } from "../json.ts";

export type Budget = { readonly name: string; readonly ceiling: number; readonly current: number };

/** A budget with a ceiling of at least 1 and a count of at least 0. */
export function create({ name, ceiling, current = 0 }: { name: string; ceiling: number; current?: number }): Budget {
  return { name, ceiling: wholeNumber(ceiling, 1) ?? 1, current: wholeNumber(current, 0) ?? 0 };
}

/** The budgets of a run by name. A later one replaces an earlier one of its name; what is not a budget is ignored. */
export function normalizeMany(value: unknown): Readonly<Record<string, Budget>> {
  const entries: [string, Budget][] = [];
  for (const given of Array.isArray(value) ? value : []) {
    if (!isMap(given)) continue;
    const name = trimmed(given.name);
    const ceiling = wholeNumber(given.ceiling, 1);
    if (name === undefined || ceiling === undefined) continue;
    entries.push([name, { name, ceiling, current: wholeNumber(given.current, 0) ?? 0 }]);
  }
  return Object.fromEntries(entries);
}

/** One more. */
export function increment(budget: Budget): Budget {
  return { name: budget.name, ceiling: budget.ceiling, current: budget.current + 1 };
}

/** The count set to a measured value, at least 0. */
export function setCurrent(budget: Budget, current: number): Budget {
  return { name: budget.name, ceiling: budget.ceiling, current: wholeNumber(current, 0) ?? 0 };
}

/** True from the moment the ceiling is reached: a ceiling of three allows three and trips right after the third. */
export function isExceeded(budget: Budget): boolean {
  return budget.current >= budget.ceiling;
}

/** How many are left, never less than 0. */
export function remaining(budget: Budget): number {
  return Math.max(0, budget.ceiling - budget.current);
}

/** What the budget of that name counts, as `budget_exceeded` events report it. */
export function dimension(name: string): string {
  if (name === "wall_clock_seconds") return "wall_clock";
  return name.startsWith("tool_calls") ? "tool_calls" : name;
}
