// A tool that an operator has switched off: what whoever calls it is told in place of its result.
import type { Switch } from "../switches.ts";

/** In words, for a model or for code. */
export function switchedOff(toolName: string, { reason }: Pick<Switch, "reason">): string {
  const why = reason === "" ? "" : ` Reason: ${reason}`;
  return `The tool '${toolName}' was switched off by an operator and did not run.${why}`;
}

/** As the result of a call. */
export function switchedOffResult(toolName: string, off: Pick<Switch, "reason">) {
  const error = switchedOff(toolName, off);
  return { success: false, tool_name: toolName, error, metadata: { error_type: "tool_switched_off" } };
}
