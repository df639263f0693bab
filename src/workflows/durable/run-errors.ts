// What callers of runs are refused with.
import { holdfastError } from "../../contracts/error.ts";
import type { SpecError } from "../../contracts/workflows/spec-error.ts";

export function workflowNotFound(id: string) {
  return holdfastError("workflow_not_found", `There is no workflow "${id}".`);
}

export function runNotFound(id: string) {
  return holdfastError("workflow_run_not_found", `There is no workflow run "${id}".`);
}

export function runEnded(id: string) {
  return holdfastError("workflow_run_ended", `The workflow run "${id}" has ended.`);
}

export function runStuck(id: string) {
  return holdfastError("workflow_run_stuck", `The workflow run "${id}" is stuck.`);
}

/** With everything that is wrong; the sentence has the first of it. `id`: which of several it is. */
export function invalidSpec(errors: readonly SpecError[], id?: unknown) {
  const shown = errors
    .slice(0, 10)
    .map(({ path, code, message }) => `${path === "" ? "" : `${path}: `}${message} (${code})`);
  const more = errors.length > shown.length ? ` and ${errors.length - shown.length} more` : "";
  const which = typeof id === "string" ? ` ${JSON.stringify(id)}` : "";
  return holdfastError("workflow_spec_invalid", `The workflow${which} is not valid: ${shown.join("; ")}${more}`);
}

export function invalidInputs({ message = "", data = null }: { readonly message?: unknown; readonly data?: unknown }) {
  const problems = JSON.stringify(data)?.slice(0, 500) ?? "";
  return holdfastError("workflow_inputs_invalid", `${String(message)} ${problems}`.trim());
}
