// Where a host decides how a parallel step of a run is carried out: not at all, by an executor, or as steps of the run.
import { trimmed, truthy } from "../../contracts/coerce.ts";
import { isMap, type Json, type JsonMap, snapshot, snapshotMap } from "../../contracts/json.ts";
import { isOperationError } from "../../contracts/operation-error.ts";
import { type Aggregation, aggregate } from "../../contracts/workflows/aggregate.ts";
import type { BranchDescriptor, BranchExecutor, BranchHandle } from "../../contracts/workflows/branch-executor.ts";
import { requiredBranchError } from "../../contracts/workflows/reconcile.ts";
import type { Outcome } from "../machine/next.ts";
import { partsOf } from "../machine/open-parts.ts";
import { isAggregator } from "../machine/outputs.ts";
import { branchesOf, namesOf } from "../machine/working.ts";
import { errorOfRefusal, errorOfThrown } from "../steps/errors-of-steps.ts";

export type FanOutHost = {
  /** Whether the step is carried out at all. */
  readonly shouldFanOut: () => unknown;
  /** The executor of the branches; null where they run as steps of the run. */
  readonly executorOf: () => BranchExecutor | null | Promise<BranchExecutor | null>;
  /** What the step comes to when all branches have ended. */
  readonly finish: (aggregation: Aggregation) => Promise<Outcome>;
  readonly runId: string;
};

/** What comes of a parallel step before any of its steps runs. It never throws. */
export async function fanOut(step: JsonMap, host: FanOutHost): Promise<Outcome> {
  try {
    if (!truthy(await host.shouldFanOut())) return declined;
    const executor = await host.executorOf();
    return executor ? await dispatch(step, executor, host) : { as: "in_parts" };
  } catch (thrown) {
    return { as: "failed", error: errorOfThrown(thrown) };
  }
}

const declined: Outcome = { as: "succeeded", output: { fanned_out: false, reason: "fanout_gate_declined" } };

async function dispatch(step: JsonMap, executor: BranchExecutor, host: FanOutHost): Promise<Outcome> {
  const parts = partsOf(step);
  if ("error" in parts) return { as: "failed", error: parts.error };
  const step_id = String(step.id);
  const about = { run_id: host.runId, step_id };
  const isRoles = step.branches !== undefined && step.branches !== null;
  const branches = isRoles ? rolesOf(step, about) : itemsOf(step, parts.items ?? [], about);
  const shared_context = step.context ?? {};
  const context = { _workflow_run_id: host.runId, _workflow_step_id: step_id, shared_context };
  const dispatched = await executor.dispatch(branches, context);
  if (isOperationError(dispatched)) return { as: "failed", error: errorOfRefusal(dispatched) };
  const handles = handlesOf(dispatched, branches);
  if (!handles) return { as: "failed", error: invalidDispatch };
  const plan = isRoles ? planOfRoles(step) : { mode: "map", shape: "map" };
  if (await executor.areAllComplete(handles)) {
    const results = new Map([...(await executor.collect(handles))].map(([key, result]) => [key, snapshotMap(result)]));
    const error = requiredBranchError(handles, ({ key }) => results.get(key));
    return error ? { as: "failed", error: errorOfRefusal(error) } : await host.finish(aggregate(plan, results));
  }
  const suspend = snapshotMap({
    reason: "parallel_branches_dispatched",
    executor: executor.id,
    handles,
    aggregate: plan,
  });
  return { as: "suspended", suspend, returned: { _suspend: suspend } };
}

/** The handles as JSON; undefined unless they are a list in which every branch has one. */
function handlesOf(dispatched: unknown, branches: readonly BranchDescriptor[]): readonly BranchHandle[] | undefined {
  const handles = snapshot(dispatched);
  if (!Array.isArray(handles)) return undefined;
  const keys = new Set(handles.map((handle) => (isHandle(handle) ? handle.key : undefined)));
  return branches.every(({ key }) => keys.has(key)) && !keys.has(undefined) ? handles : undefined;
}

function isHandle(value: unknown): value is BranchHandle {
  return isMap(value) && trimmed(value.id) !== undefined && typeof value.key === "string";
}

const invalidDispatch = {
  code: "workflow_branch_dispatch_invalid",
  message: "The executor did not return a handle for each branch.",
  data: null,
};

type About = { readonly run_id: string; readonly step_id: string };

function rolesOf(step: JsonMap, about: About): BranchDescriptor[] {
  return branchesOf(step)
    .filter((branch) => !isAggregator(branch))
    .map((branch) => {
      const { steps = [], ...role } = branch;
      const name = String(branch.role);
      return {
        key: name,
        role: name,
        required: truthy(branch.required),
        steps,
        branch_vars: { context: step.context ?? {}, role },
        continue_on_error: truthy(branch.continue_on_error),
        ...about,
      };
    });
}

function itemsOf(step: JsonMap, items: readonly Json[], about: About): BranchDescriptor[] {
  const { as, index_as } = namesOf(step);
  return items.map((item, index) => ({
    key: String(index),
    index,
    item,
    steps: step.steps ?? [],
    branch_vars: { [as]: item, [index_as]: index },
    continue_on_error: truthy(step.continue_on_error),
    ...about,
  }));
}

/** What the aggregation will need of the step. */
function planOfRoles(step: JsonMap): JsonMap {
  const aggregator = branchesOf(step).find(isAggregator);
  return {
    mode: "roles",
    aggregator_role: aggregator ? String(aggregator.role) : "",
    aggregator_spec: aggregator ?? {},
    shared_context: step.context ?? {},
    shape: "roles",
  };
}
