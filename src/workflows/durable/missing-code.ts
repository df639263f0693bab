// Code that a run needs and that this process does not have: a process of another program, or of another version of it.
import { trimmed } from "../../contracts/coerce.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { undoOf } from "../../contracts/workflows/step-options.ts";
import { eachStep } from "../../contracts/workflows/step-walk.ts";
import { workOfFunction } from "../steps/step-functions.ts";
import { codeOf, type StepCode } from "./code-of-run.ts";
import type { LeasedRun } from "./leased-run.ts";
import { ownTypes } from "./own-types.ts";
import type { RunHost } from "./run-host.ts";

/**
 * What is missing, in words; undefined where the process has all of it, and where it knows the workflow: then a step that it cannot
 * carry out has failed.
 */
export function missingCode(host: RunHost, run: Pick<LeasedRun, "body">): string | undefined {
  const { id, raw } = run.body.typed;
  if (host.workflows.find(id)) return undefined;
  const code = codeOf(host, run);
  for (const { step } of eachStep(raw)) {
    for (const each of step ? [step, undoOf(step)] : []) {
      const missing = each && missingFor(host, code, each);
      if (missing !== undefined) return `This process has no ${missing}, which the workflow "${id}" needs.`;
    }
  }
  return undefined;
}

const OF_THE_CONTRACT: ReadonlySet<unknown> = new Set(["ability", "agent", "foreach", "parallel"]);

function missingFor(host: RunHost, { functions, stepTypes }: StepCode, step: JsonMap): string | undefined {
  const { type } = step;
  if (type === "function") {
    const name = trimmed(step.function);
    const isBound = name === undefined || name.includes("${");
    return isBound || workOfFunction(functions, name) ? undefined : `function "${name}"`;
  }
  const isKnown =
    OF_THE_CONTRACT.has(type) ||
    ownTypes(host.stepHandlers).has(String(type)) ||
    Object.hasOwn(host.stepHandlers ?? {}, String(type)) ||
    stepTypes.some((each) => each.type === type);
  return isKnown ? undefined : `type of step "${String(type)}"`;
}
