// What a parallel step comes to, from what its branches came to, in the order in which they ended.
import { scalarText } from "../coerce.ts";
import { isEmpty, type Json, type JsonMap, seal, snapshot, snapshotMap } from "../json.ts";

/** The output of the step; or, where a branch is to make one thing of the others, what that branch is to be run with. */
export type Aggregation =
  | { readonly kind: "output"; readonly output: JsonMap }
  | {
      readonly kind: "run_aggregator";
      readonly role: string;
      readonly spec: JsonMap;
      readonly vars: JsonMap;
      readonly branch_outputs: JsonMap;
    };

/** The aggregation of a suspended step, as it stands in its record, over results by the keys of their branches. */
export function aggregate(plan: JsonMap, results: ReadonlyMap<string, JsonMap>): Aggregation {
  if (plan.mode === "map") return { kind: "output", output: listBranches(results) };
  const role = scalarText(plan.aggregator_role) ?? "";
  const others = [...results].filter(([key]) => role === "" || key !== role);
  const branch_outputs = toMap(others.map(([key, result]) => [key, outputOf(result)]));
  if (role === "") return { kind: "output", output: seal({ shape: "roles", branch_outputs }) };
  const spec = snapshotMap(plan.aggregator_spec);
  const vars = seal({
    context: snapshotMap(plan.shared_context),
    role: toMap(Object.entries(spec).filter(([field]) => field !== "steps")),
    ...(!isEmpty(branch_outputs) && { branch_outputs }),
  });
  return { kind: "run_aggregator", role, spec, vars, branch_outputs };
}

/** The output of the step once the aggregator has ended, with what it made. */
export function addFinal(role: string, branchOutputs: JsonMap, final: Json): JsonMap {
  const branch_outputs = toMap([...Object.entries(branchOutputs), [role, final]]);
  return seal({ shape: "roles", aggregator: role, branch_outputs, final });
}

function listBranches(results: ReadonlyMap<string, JsonMap>): JsonMap {
  const branches = [...results].map(([key, result]) =>
    seal({
      index: indexOf(key),
      item: result.item ?? null,
      steps: result.steps ?? seal([]),
      output: outputOf(result),
    }),
  );
  return seal({ shape: "map", count: branches.length, branches: seal(branches) });
}

/** Keys of a map step are the indexes of its items. */
function indexOf(key: string): Json {
  return /^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : key;
}

/** What failed has no output, whatever came with it. */
function outputOf({ status, output }: JsonMap): Json {
  return status === "failed" ? null : (output ?? null);
}

function toMap(entries: readonly (readonly [string, Json])[]): JsonMap {
  return snapshot(Object.fromEntries(entries)) as JsonMap;
}
