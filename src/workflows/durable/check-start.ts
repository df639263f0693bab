// Whether this process can carry a workflow out: everything that its steps name is looked for before a run exists.
import { trimmed } from "../../contracts/coerce.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { WorkflowSpec } from "../../contracts/workflows/spec.ts";
import { type SpecError, specError } from "../../contracts/workflows/spec-error.ts";
import { undoOf } from "../../contracts/workflows/step-options.ts";
import { eachStep } from "../../contracts/workflows/step-walk.ts";
import { workOfFunction } from "../steps/step-functions.ts";
import type { StepCode } from "./code-of-run.ts";
import { ownTypes } from "./own-types.ts";
import type { RunHost } from "./run-host.ts";

/** What is missing here. A name with a binding in it is known only when the step runs. */
export async function missingHere(
  host: RunHost,
  spec: WorkflowSpec,
  code: StepCode,
  principal: Principal,
): Promise<SpecError[]> {
  const missing: SpecError[] = [];
  const about: About = { host, code, principal };
  for (const { step, path } of eachStep(spec.raw)) {
    if (step === undefined) continue;
    missing.push(...(await missingFor(step, path, about)));
    const undo = undoOf(step);
    if (undo) missing.push(...(await missingFor(undo, `${path}.undo`, about)));
  }
  return missing;
}

type About = { readonly host: RunHost; readonly code: StepCode; readonly principal: Principal };

const CONTAINERS: ReadonlySet<unknown> = new Set(["foreach", "parallel"]);

async function missingFor(step: JsonMap, path: string, { host, code, principal }: About): Promise<SpecError[]> {
  const { type } = step;
  const named = (field: string) => {
    const name = trimmed(step[field]);
    return name === undefined || name.includes("${") ? undefined : name;
  };
  const error = (field: string, errorCode: string, what: string) => [
    specError(`${path}.${field}`, errorCode, `There is no ${what} "${String(step[field])}" here.`),
  ];
  if (type === "ability") {
    const name = named("ability");
    const isHere = name === undefined || host.tools.has(name) || (await host.operations(principal).has(name));
    return isHere ? [] : error("ability", "unknown_ability", "operation");
  }
  if (type === "agent") {
    const slug = named("agent");
    const isHere = slug === undefined || host.threads.agents.has(slug) || (await host.mayUseAgent(principal, slug));
    return isHere ? [] : error("agent", "agent_not_found", "agent");
  }
  if (type === "function") {
    const name = named("function");
    return name === undefined || workOfFunction(code.functions, name)
      ? []
      : error("function", "workflow_function_missing", "function");
  }
  if (type === "workflow" && ownTypes(host.stepHandlers).has("workflow")) {
    const id = named("workflow");
    return id === undefined || host.workflows.find(id) ? [] : error("workflow", "workflow_not_found", "workflow");
  }
  const isKnown =
    CONTAINERS.has(type) ||
    ownTypes(host.stepHandlers).has(String(type)) ||
    Object.hasOwn(host.stepHandlers ?? {}, String(type)) ||
    code.stepTypes.some((each) => each.type === type);
  return isKnown ? [] : error("type", "no_step_handler", "handler for steps of the type");
}
