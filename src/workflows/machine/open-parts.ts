// How many parts a step has, or why it cannot have any.
import { truthy } from "../../contracts/coerce.ts";
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { isAggregator } from "./outputs.ts";
import { aggregatorOf, branchesOf, type StepError } from "./working.ts";

export type OpenParts = {
  readonly items?: readonly Json[];
  readonly chosen?: number;
  readonly count: number;
  readonly first: number;
  readonly limit: number;
  readonly aggregator: number | null;
};

export type Parts = OpenParts | { readonly error: StepError };

/** Of one step. Each is at least one commit of a run that is kept. */
const MOST_ITEMS = 100_000;

/** More would make the state of a run large. */
const MOST_AT_ONCE = 100;

/** The parts of a step whose bindings are expanded. */
export function partsOf(resolved: JsonMap): Parts {
  if (resolved.branches !== undefined && resolved.branches !== null && resolved.type === "parallel") {
    const branches = branchesOf(resolved);
    const error = wrongBranches(branches);
    if (error) return { error };
    return {
      count: branches.length,
      first: 0,
      limit: MOST_AT_ONCE,
      aggregator: aggregatorOf(branches, isAggregator),
    };
  }
  const items = itemsOf(resolved.items);
  if (!items) return { error: invalidItems(resolved) };
  if (items.length > MOST_ITEMS) return { error: tooManyItems(items.length) };
  return { items, count: items.length, first: 0, limit: limitOf(resolved), aggregator: null };
}

// A spec is validated before its bindings are expanded, and these may come to something else.
function wrongBranches(branches: readonly JsonMap[]): StepError | undefined {
  if (branches.some(({ role }) => !truthy(role) || typeof role !== "string")) {
    return { code: "workflow_parallel_branch_role_missing", message: "Each branch needs a role that is not blank." };
  }
  if (branches.filter(isAggregator).length > 1) {
    return { code: "workflow_parallel_aggregator_invalid", message: "At most one branch can be the aggregator." };
  }
  return undefined;
}

export function itemsOf(value: Json | undefined): readonly Json[] | undefined {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  return isMap(value) ? (Object.values(value) as Json[]) : undefined;
}

function limitOf({ type, concurrency }: JsonMap): number {
  if (typeof concurrency === "number" && Number.isInteger(concurrency) && concurrency > 0) {
    return Math.min(concurrency, MOST_AT_ONCE);
  }
  return type === "foreach" ? 1 : MOST_AT_ONCE;
}

function invalidItems({ type }: JsonMap): StepError {
  return {
    code: type === "foreach" ? "workflow_foreach_items_invalid" : "workflow_parallel_items_invalid",
    message: "The items of the step have to be a list or a map.",
  };
}

function tooManyItems(count: number): StepError {
  return {
    code: "workflow_too_many_items",
    message: `The step has ${count} items; at most ${MOST_ITEMS} are carried out.`,
  };
}
