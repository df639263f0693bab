// What steps are called in sentences for operators.
import { idOfStep } from "../durable/step-id.ts";
import type { Working } from "../machine/working.ts";

/** Its id, or its place where it has none. */
export function stepName(working: Working, path: string): string {
  return idOfStep(working, path) || path;
}

/** `the step "pay"`, or `the steps "pay" and "ship"`; of many the first. */
export function stepsInWords(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => `"${name}"`);
  const others = names.length > shown.length ? [`${names.length - shown.length} others`] : [];
  const all = [...shown, ...others];
  const last = all.pop() ?? "";
  return all.length === 0 ? `the step ${last}` : `the steps ${all.join(", ")} and ${last}`;
}

const MOST_NAMED = 5;
