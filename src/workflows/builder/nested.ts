// A step that runs another workflow.
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { BuiltWorkflow } from "../steps/built-workflow.ts";
import type { Needed } from "./needed.ts";
import { invalid, required } from "./place.ts";
import { newStep, type Step } from "./step.ts";
import type { ExpressionMap, Given, InputArgument } from "./values.ts";
import { written } from "./written.ts";

export type NestedOptions<Detached extends boolean> = {
  /** Whether nothing waits for its end: it goes on by itself, whatever becomes of the run that has begun it. */
  readonly detached?: Detached;
};

type NestedOutput<Output, Detached> = Detached extends true ? { readonly run_id: string } : Given<Output>;

/** Runs another workflow, which is given whole or by its id, and waits for its output unless it is detached. */
export function nested<Inputs, Output, Detached extends boolean = false>(
  workflow: BuiltWorkflow<Inputs, Output>,
  ...given: [...inputs: InputArgument<Inputs>, options?: NestedOptions<Detached>]
): Step<NestedOutput<Output, Detached>, "call">;
export function nested<Output = unknown, Detached extends boolean = false>(
  workflow: string,
  inputs?: ExpressionMap,
  options?: NestedOptions<Detached>,
): Step<NestedOutput<Output, Detached>, "call">;
export function nested(
  workflow: BuiltWorkflow | string,
  inputs: unknown = {},
  { detached = false, ...unknown }: NestedOptions<boolean> = {},
): Step<unknown, "call"> {
  return newStep("call", () => {
    const [key] = Object.keys(unknown);
    if (key !== undefined) throw invalid(`${key} means nothing here`);
    const { id, needs } = named(workflow);
    const step = { type: "workflow", workflow: required(id, "workflow"), inputs: written(inputs) };
    return { step: { ...step, ...(detached && { detached }) }, needs };
  });
}

function named(workflow: unknown): { readonly id: unknown; readonly needs: readonly Needed[] } {
  if (typeof workflow === "string") return { id: workflow, needs: [] };
  const spec = isMap(workflow) ? workflow.spec : undefined;
  if (!isMap(spec)) throw invalid("nested needs a workflow that has steps, or the id of one");
  return { id: (spec as JsonMap).id, needs: [{ kind: "workflow", workflow: workflow as unknown as BuiltWorkflow }] };
}
