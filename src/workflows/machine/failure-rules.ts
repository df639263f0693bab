// What the failure of a step means for the steps around it.
import { truthy } from "../../contracts/coerce.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { isTopList, parentOf, positionOf, ROLLBACK, ROOT } from "./path.ts";
import type { State } from "./state.ts";
import { bodyOf, branchesOf, kindOf, stepAt, type Working } from "./working.ts";

/** Whether the steps of a list that stand behind a failed one run all the same. */
export function toleratesFailures(working: Working, list: string): boolean {
  if (list === ROOT) return working.continueOnError;
  if (isTopList(list)) return list === ROLLBACK;
  const container = containerOf(working, list);
  const holder = kindOf(working, container) === "roles" ? branchesOf(container)[positionOf(list)] : container;
  return truthy(holder?.continue_on_error);
}

/** Whether a step succeeds without this part. A branch is optional unless it is required; items never are. */
export function isOptional(working: Working, part: string): boolean {
  const container = containerOf(working, part);
  return kindOf(working, container) === "roles" && !truthy(branchesOf(container)[positionOf(part)]?.required);
}

/** The step that a part belongs to, with its bindings expanded. */
export function containerOf(working: Working, part: string): JsonMap {
  const path = parentOf(part);
  return bodyOf(working, path).resolved ?? stepAt(working, path);
}

/**
 * True in a part whose step has failed already because of a part before it. Parts before the failed one go on: the step fails
 * with the error of the first part that fails in the order of declaration, as it would if they ran one after another.
 */
export function isGivenUp({ scopes }: Pick<State, "scopes">, path: string): boolean {
  for (let part = path; !isTopList(part); part = parentOf(parentOf(part))) {
    const scope = scopes[parentOf(part)];
    if (scope?.kind === "fan_out" && scope.failed !== null && positionOf(part) > scope.failed) return true;
  }
  return false;
}
