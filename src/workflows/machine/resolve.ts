// A step with its bindings expanded. The steps inside it are not: each is expanded when its turn comes.
import { emptyMap, type Json, type JsonMap, seal } from "../../contracts/json.ts";
import { expand, references } from "../../contracts/workflows/bindings.ts";
import { undoOf } from "../../contracts/workflows/step-options.ts";
import { contextOf } from "./context.ts";
import { branchesOf, kindOf, type StepKind, stepAt, type Working } from "./working.ts";

export function resolveStep(working: Working, path: string): JsonMap {
  const step = stepAt(working, path);
  const kind = kindOf(working, step);
  const { undo, ...rest } = step;
  // What undoes a step is expanded when it runs: it may name what the step has returned.
  const isUndo = undoOf(step) !== undefined;
  const own = ownPart(isUndo ? rest : step, kind);
  const resolved = expand(own, contextOf(working, path, references(own).steps)) as JsonMap;
  return seal({ ...resolved, ...later(step, resolved, kind), ...(isUndo && { undo: undo ?? null }) });
}

/** The step as far as its bindings are its own. */
function ownPart(step: JsonMap, kind: StepKind): JsonMap {
  switch (kind) {
    case "single":
      return step;
    case "roles":
      return withoutSteps(step);
    case "branch":
      return omitCases(step);
    default:
      return omitSteps(step);
  }
}

/** What stays as it was declared until its turn comes. */
function later(step: JsonMap, resolved: JsonMap, kind: StepKind): JsonMap {
  switch (kind) {
    case "single":
      return emptyMap;
    case "roles":
      return { branches: withSteps(branchesOf(resolved), branchesOf(step)) };
    case "branch":
      return { cases: step.cases ?? [], ...(step.else !== undefined && { else: step.else }) };
    default:
      return { steps: step.steps ?? [] };
  }
}

function omitCases({ cases: _cases, else: _else, ...own }: JsonMap): JsonMap {
  return own;
}

function omitSteps({ steps: _, ...own }: JsonMap): JsonMap {
  return own;
}

/** A step of roles as far as its bindings are its own. */
function withoutSteps(step: JsonMap): JsonMap {
  return { ...omitSteps(step), branches: branchesOf(step).map(omitSteps) };
}

function withSteps(resolved: readonly JsonMap[], declared: readonly JsonMap[]): readonly Json[] {
  return seal(declared.map(({ steps = [] }, position) => seal({ ...resolved[position], steps })));
}
