// Workflows as a program holds them: what can be started, and the runs of it.

import type { StoredWorkflowRun, WorkflowQuery } from "../../backend/workflow-store.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { isName } from "../../contracts/storable-name.ts";
import { checkWorkflow, type WorkflowCheck } from "../../contracts/workflows/check-workflow.ts";
import type { WorkflowSpec } from "../../contracts/workflows/spec.ts";
import { checkFields } from "../../threads/check-arguments.ts";
import type { BuiltWorkflow, InputsOf } from "../steps/built-workflow.ts";
import { checkOptions } from "./check-options.ts";
import { isBuilt, knownWorkflows } from "./known-workflows.ts";
import { invalidSpec, runNotFound } from "./run-errors.ts";
import { createRunHandle, type RunHandle } from "./run-handle.ts";
import type { RunHost } from "./run-host.ts";
import { type StartOptions, startRun } from "./start-run.ts";

export type RunsQuery = Omit<WorkflowQuery, "limit"> & { readonly limit?: number };

export interface WorkflowsRuntime {
  /** The workflows that this process can start by their ids. */
  list(): readonly WorkflowSpec[];
  find(id: string): WorkflowSpec | undefined;
  /** What is known of a workflow beside its spec: where it comes from, and the schema of its inputs if it has one. */
  about(id: string): { readonly source: "program" | "spec"; readonly input_schema: JsonMap | null } | undefined;
  /** What keeps a spec from being used here, and what its author may have meant otherwise. */
  check(spec: unknown): WorkflowCheck;
  /** Adds a workflow, in the place of one with the same id, and emits `workflowRegistered`. Throws `workflow_spec_invalid`. */
  register(workflow: BuiltWorkflow | JsonMap): WorkflowSpec;
  /** Forgets a workflow. Runs of it go on under the spec that they began with. False when there was none. */
  unregister(id: string): boolean;
  /**
   * Starts a run, by the id of a workflow or with one that comes along. Throws `workflow_not_found`, `workflow_spec_invalid`,
   * `workflow_inputs_invalid` and `workflow_key_taken`; then there is no run.
   */
  start<Workflow extends string | BuiltWorkflow | JsonMap>(
    workflow: Workflow,
    inputs?: Workflow extends BuiltWorkflow ? InputsOf<Workflow> : unknown,
    options?: StartOptions,
  ): Promise<RunHandle & { readonly outcome: "started" | "repeated" }>;
  /** The run of that id; throws `workflow_run_not_found`. */
  run(id: string): Promise<RunHandle>;
  /** Newest first. */
  runs(query?: RunsQuery): Promise<readonly StoredWorkflowRun[]>;
  /** Erases a run and all that stands below it, for good; answers with their ids. Throws `workflow_run_not_found`. */
  delete(id: string): Promise<readonly string[]>;
}

const USUAL_LIMIT = 100;

const QUERY = ["workflow_id", "status", "tag", "from", "to", "parent", "behind", "limit", "owner", "workspace"];

export function createWorkflows(host: RunHost): WorkflowsRuntime {
  const { stores, progress, onCrashPoint } = host.threads;

  async function exists(id: string): Promise<boolean> {
    return isName(id) && (await stores.workflows.get(id)) !== undefined;
  }

  return {
    list: () => host.workflows.all().map(({ spec }) => spec),
    find: (id) => host.workflows.find(id)?.spec,
    about(id) {
      const known = host.workflows.find(id);
      return known && { source: known.source, input_schema: known.inputs?.json ?? null };
    },
    check: (spec) => checkWorkflow(spec, checkOptions(host)),
    register(workflow) {
      const [raw, types] = isBuilt(workflow) ? [workflow.spec, workflow.stepTypes ?? []] : [workflow, []];
      const { errors } = checkWorkflow(raw, checkOptions(host, types));
      if (errors.length > 0) throw invalidSpec(errors);
      const all = knownWorkflows([workflow]);
      for (const each of all) host.workflows.add(each);
      const added = all.at(-1);
      if (!added) throw new Error("A workflow was checked and is not there.");
      host.hooks?.emit("workflowRegistered", added.spec);
      return added.spec;
    },
    unregister: (id) => host.workflows.remove(id),
    async start(workflow, inputs, options) {
      const { id, outcome } = await startRun(host, workflow, inputs ?? {}, options);
      return { ...createRunHandle(host, id), outcome };
    },
    async run(id) {
      if (!(await exists(id))) throw runNotFound(id);
      return createRunHandle(host, id);
    },
    async runs({ limit = USUAL_LIMIT, ...query } = {}) {
      checkFields("query", { ...query, limit }, QUERY);
      return await stores.workflows.list({ ...query, limit });
    },
    async delete(id) {
      await onCrashPoint("before delete");
      const deleted = (await exists(id)) ? await stores.threads.delete(id) : [];
      await onCrashPoint("after delete");
      if (deleted.length === 0) throw runNotFound(id);
      for (const each of deleted) progress.changed(each, true);
      return deleted;
    },
  };
}
