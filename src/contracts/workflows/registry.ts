// Workflows that a program knows by their ids, kept in memory.
import type { JsonMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import { type KnownTypesHost, knownTypes } from "./known-types.ts";
import { type ScheduleHost, schedule } from "./schedule.ts";
import { normalize, type WorkflowSpec } from "./spec.ts";

export interface Workflows {
  /** Adds a workflow, in the place of one with the same id; refuses a spec that is invalid. */
  register(raw: unknown): Promise<WorkflowSpec | OperationError>;
  /** Forgets a workflow; refuses with `not_registered` where there is none. */
  unregister(workflowId: string): true | OperationError;
  find(workflowId: string): WorkflowSpec | undefined;
  /** In the order in which their ids were first registered. */
  all(): readonly WorkflowSpec[];
}

/** An empty registry. What is registered is scheduled where there is a scheduler, and emitted as `workflowRegistered`. */
export function createMemoryWorkflows(host: KnownTypesHost & ScheduleHost = {}): Workflows {
  const registered = new Map<string, WorkflowSpec>();
  return {
    async register(raw) {
      const spec = normalize(raw, await knownTypes(host));
      if (isOperationError(spec)) return spec;
      registered.set(spec.id, spec);
      await schedule(spec, host);
      host.hooks?.emit("workflowRegistered", spec);
      return spec;
    },
    unregister(workflowId) {
      if (registered.delete(workflowId)) return true;
      return operationError("not_registered", `There is no workflow "${workflowId}".`);
    },
    find: (workflowId) => registered.get(workflowId),
    all: () => [...registered.values()],
  };
}

/** A workflow as it is shown: the raw spec and what it takes in, null for one that is not registered. */
export type WorkflowDescription = { readonly spec: JsonMap | null; readonly inputs: JsonMap | null };

export function describe(workflowId: unknown, { find }: Pick<Workflows, "find">): WorkflowDescription {
  const spec = typeof workflowId === "string" ? find(workflowId) : undefined;
  return { spec: spec?.raw ?? null, inputs: spec?.inputs ?? null };
}
