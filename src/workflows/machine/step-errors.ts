// The errors that the machine itself gives to steps.
import type { JsonMap } from "../../contracts/json.ts";
import type { StepError } from "./working.ts";

export const cancelled: StepError = { code: "cancel_requested", message: "The run was asked to stop." };

export const invalidSleep: StepError = {
  code: "workflow_sleep_invalid",
  message: "The step needs a duration such as 30s in `for`, or a time in `until`.",
};

export const waitTimedOut: StepError = {
  code: "workflow_wait_timed_out",
  message: "What the step waits for has not come in time.",
  data: null,
};

/** The part of an error that the contract passes on to the step around it. */
export function essence({ code = "", message = "", data = null }: StepError): StepError {
  return { code, message, data };
}

/** The error of a step inside another one whose type no handler carries out. */
export function unhandled(container: JsonMap, { id, type }: JsonMap): StepError {
  const code = container.type === "foreach" ? "workflow_foreach_step_unhandled" : "workflow_parallel_step_unhandled";
  return { code, message: `Nothing here can run the step "${String(id)}" of the type "${String(type)}".` };
}
