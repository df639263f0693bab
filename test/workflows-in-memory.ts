// What tests of workflows in memory begin with: a spec, a host whose operations are functions, and a recorder.
import type { JsonMap } from "../src/contracts/json.ts";
import { isOperationError } from "../src/contracts/operation-error.ts";
import type { RunRecorder } from "../src/contracts/workflows/run-recorder.ts";
import { normalize, type WorkflowSpec } from "../src/contracts/workflows/spec.ts";
import type { WorkflowHost } from "../src/workflows/in-memory/workflow-host.ts";
import type { OperationCall } from "../src/workflows/steps/operations.ts";

export type Call = (input: JsonMap, call: OperationCall) => unknown;

export function specOf(steps: readonly JsonMap[], more: JsonMap = {}, types: readonly string[] = []): WorkflowSpec {
  const knownStepTypes = ["sleep", "branch", "shout", "function", ...types];
  const spec = normalize({ id: "wf", steps, ...more }, { knownStepTypes });
  if (isOperationError(spec)) throw new Error(spec.message);
  return spec;
}

export function hostWith(operations: Readonly<Record<string, Call>>, more: WorkflowHost = {}): WorkflowHost {
  return {
    operations: {
      has: (name) => Object.hasOwn(operations, name),
      call: (name, input, call) => operations[name]?.(input as JsonMap, call),
    },
    ...more,
  };
}

export function call(id: string, ability: string, more: JsonMap = {}): JsonMap {
  return { id, type: "ability", ability, ...more };
}

/** Keeps records as JSON, as a recorder with a database does; `updates` is what it was told behind the start. */
export function recordsOfRuns(): RunRecorder & { readonly updates: JsonMap[] } {
  const rows = new Map<string, string>();
  const updates: JsonMap[] = [];
  return {
    updates,
    start: (run) => void rows.set(String(run.run_id), JSON.stringify(run)),
    update(run) {
      updates.push(run);
      rows.set(String(run.run_id), JSON.stringify(run));
    },
    find(runId) {
      const row = rows.get(runId);
      return row === undefined ? undefined : (JSON.parse(row) as JsonMap);
    },
  };
}

export const never = () => new Promise<never>(() => undefined);
