// Steps of types that a program adds.
import { isStepType, type StepType } from "../steps/step-type.ts";
import { invalid } from "./place.ts";
import { newStep, type Step } from "./step.ts";
import type { InputArgument, OutputOf } from "./values.ts";
import { written } from "./written.ts";

/** A step of a type that `stepType` has made. An input without references is checked when the spec is made. */
export function stepOf<Takes, Returns>(
  type: StepType<Takes, Returns>,
  ...[input]: InputArgument<Takes>
): Step<OutputOf<Returns>, "call"> {
  return newStep("call", () => {
    if (!isStepType(type)) throw invalid("stepOf needs what stepType has made");
    return {
      step: { type: type.type, input: written(input ?? {}) },
      needs: [{ kind: "step_type", stepType: type }],
    };
  });
}
