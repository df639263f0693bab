// A step with its bindings expanded. The steps inside it are not: each is expanded when its turn comes.
import type { Json, JsonMap } from "../../contracts/json.ts";
import { expand, references } from "../../contracts/workflows/bindings.ts";
import { contextOf } from "./context.ts";
import { branchesOf, kindOf, stepAt, type Working } from "./working.ts";

export function resolveStep(working: Working, path: string): JsonMap {
  const step = stepAt(working, path);
  const kind = kindOf(step);
  const own = kind === "single" ? step : kind === "roles" ? withoutSteps(step) : omitSteps(step);
  const resolved = expand(own, contextOf(working, path, references(own).steps)) as JsonMap;
  switch (kind) {
    case "single":
      return resolved;
    case "roles":
      return { ...resolved, branches: withSteps(branchesOf(resolved), branchesOf(step)) };
    default:
      return { ...resolved, steps: step.steps ?? [] };
  }
}

function omitSteps({ steps: _, ...own }: JsonMap): JsonMap {
  return own;
}

/** A step of roles as far as its bindings are its own. */
function withoutSteps(step: JsonMap): JsonMap {
  return { ...omitSteps(step), branches: branchesOf(step).map(omitSteps) };
}

function withSteps(resolved: readonly JsonMap[], declared: readonly JsonMap[]): readonly Json[] {
  return declared.map(({ steps = [] }, position) => ({ ...resolved[position], steps }));
}
