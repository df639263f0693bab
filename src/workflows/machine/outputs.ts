// The outputs of steps that have parts, made from the outputs of these: none of them is stored twice.
import { truthy } from "../../contracts/coerce.ts";
import { emptyMap, type Json, type JsonMap, seal, snapshot } from "../../contracts/json.ts";
import { below } from "./path.ts";
import { bodyOf, branchesOf, kindOf, stepAt, stepsAt, type Working } from "./working.ts";

/** The output of a step all of whose parts have ended. */
export function outputOfParts(working: Working, path: string): JsonMap {
  working.bodies.expectAllBelow?.(path);
  const step = stepAt(working, path);
  const { items = [] } = bodyOf(working, path);
  switch (kindOf(working, step)) {
    case "foreach":
      return seal({ count: items.length, iterations: seal(items.map((_, index) => iteration(working, path, index))) });
    case "map":
      return seal({
        shape: "map",
        count: items.length,
        branches: seal(items.map((_, index) => branchOfMap(working, path, index))),
      });
    case "roles":
      return outputOfRoles(working, path);
    case "branch":
      return outputOfBranchStep(working, path);
    default:
      throw new Error(`The step at "${path}" has no parts.`);
  }
}

/** What the branches that are no aggregator have returned, by role. */
export function outputsOfBranches(working: Working, path: string): JsonMap {
  working.bodies.expectAllBelow?.(path);
  const branches = branchesOf(resolvedAt(working, path));
  const outputs = branches.flatMap((branch, position) =>
    isAggregator(branch) ? [] : [[roleOf(branch), outputOfBranch(working, below(path, position))] as const],
  );
  return mapOf(outputs);
}

export function isAggregator(branch: JsonMap): boolean {
  return truthy(branch.is_aggregator);
}

function iteration(working: Working, path: string, index: number): JsonMap {
  const steps = outputsOfSteps(working, below(path, index));
  return seal({ index, item: itemAt(working, path, index), steps: mapOf(steps), last: lastOf(steps) });
}

function branchOfMap(working: Working, path: string, index: number): JsonMap {
  const steps = outputsOfSteps(working, below(path, index));
  return seal({ index, item: itemAt(working, path, index), steps: mapOf(steps), output: lastOf(steps) });
}

/** `case`: the position of the case that was chosen, or `else`; null when none was. */
function outputOfBranchStep(working: Working, path: string): JsonMap {
  const { chosen } = bodyOf(working, path);
  if (chosen === undefined) return noCase;
  const steps = outputsOfSteps(working, below(path, chosen));
  const { cases } = stepAt(working, path);
  const isElse = Array.isArray(cases) && chosen >= cases.length;
  return seal({ case: isElse ? "else" : chosen, steps: mapOf(steps), last: lastOf(steps) });
}

const noCase = seal({ case: null, steps: emptyMap, last: null });

function outputOfRoles(working: Working, path: string): JsonMap {
  const branches = branchesOf(resolvedAt(working, path));
  // The aggregator runs last and is told last, wherever it is declared.
  const order = branches.map((branch, position) => ({ branch, position }));
  const others = order.filter(({ branch }) => !isAggregator(branch));
  const aggregator = order.find(({ branch }) => isAggregator(branch));
  const told = aggregator ? [...others, aggregator] : others;
  const outputs = told.map(
    ({ branch, position }) => [roleOf(branch), outputOfBranch(working, below(path, position))] as const,
  );
  const records = told.map(
    ({ branch, position }) => [roleOf(branch), recordOfBranch(working, below(path, position), roleOf(branch))] as const,
  );
  return seal({
    shape: "roles",
    ...(aggregator && { aggregator: roleOf(aggregator.branch) }),
    branch_outputs: mapOf(outputs),
    branch_records: mapOf(records),
    ...(aggregator && { final: outputOfBranch(working, below(path, aggregator.position)) }),
  });
}

function outputOfBranch(working: Working, path: string): Json {
  const { error } = bodyOf(working, path);
  // The contract names these two fields of the error and no others.
  if (error) return seal({ error: seal({ code: error.code ?? "", message: error.message ?? "" }) });
  return lastOf(outputsOfSteps(working, path));
}

function recordOfBranch(working: Working, path: string, role: string): JsonMap {
  if (bodyOf(working, path).error) return seal({ role, steps: emptyMap, status: "failed" });
  return seal({ role, steps: mapOf(outputsOfSteps(working, path)), status: "succeeded" });
}

export type StepOutput = readonly [id: string, output: Json];

/** What the steps of a list have returned, by id. A failure that was tolerated stands there as an error. */
export function outputsOfSteps(working: Working, path: string): readonly StepOutput[] {
  return stepsAt(working, path).map(({ id }, position) => {
    const { output, error } = bodyOf(working, below(path, position));
    return [
      typeof id === "string" ? id : String(position),
      error ? seal({ error: snapshot(error) }) : (output ?? null),
    ];
  });
}

/** Outputs by id, which may be any text: each becomes a key of its own. */
export function mapOf(entries: readonly StepOutput[]): JsonMap {
  return seal(Object.fromEntries(entries));
}

/** What the last of some steps has returned. */
export function lastOf(outputs: readonly StepOutput[]): Json {
  return outputs.at(-1)?.[1] ?? null;
}

function itemAt(working: Working, path: string, index: number): Json {
  return bodyOf(working, path).items?.[index] ?? null;
}

function resolvedAt(working: Working, path: string): JsonMap {
  return bodyOf(working, path).resolved ?? stepAt(working, path);
}

function roleOf({ role }: JsonMap): string {
  return typeof role === "string" ? role : "";
}
