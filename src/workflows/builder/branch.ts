// A step that runs the steps of the first case that holds. They see what is around them.
import type { Json, JsonMap } from "../../contracts/json.ts";
import type { PredicateOp } from "../../contracts/predicates/predicate.ts";
import { readWhen } from "../../contracts/workflows/own-steps.ts";
import type { Needed } from "./needed.ts";
import { describing, invalid, type Place } from "./place.ts";
import { bindingOf, type ReferenceTo } from "./reference.ts";
import { newStep, type Step } from "./step.ts";
import { describeList, type Listed, newList, type Steps } from "./step-list.ts";
import type { Given } from "./values.ts";
import { written } from "./written.ts";

/** A predicate as specs have it, on what a reference will come to. The value is one that is known already. */
export type Condition =
  | { readonly path: ReferenceTo<unknown>; readonly op: PredicateOp; readonly value?: Json }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition };

declare const last: unique symbol;

/** A case of a branch, by what its last step returns. */
export interface Case<Last> {
  readonly when: Condition;
  readonly steps: unknown;
  readonly [last]?: Last;
}

export type BranchOutput<Last> = {
  /** The position of the case; null when none has held and there was nothing else. */
  readonly case: number | "else" | null;
  /** What the last of its steps has returned. */
  readonly last: Last;
};

/** Steps that run when a predicate holds. */
export function when<Last>(condition: Condition, steps: (chosen: Steps<object>) => Listed<unknown, Last>): Case<Last> {
  return { when: condition, steps };
}

type LastOf<Cases> = Cases extends readonly Case<infer Last>[] ? Last : never;

/** The steps of the first case that holds run, or else those of `otherwise`. */
export function branch<Cases extends readonly Case<unknown>[], Otherwise = null>(
  cases: Cases,
  otherwise?: (otherwise: Steps<object>) => Listed<unknown, Otherwise>,
): Step<BranchOutput<LastOf<Cases> | Given<Otherwise>>, "parts"> {
  return newStep("parts", (place) => {
    if (cases.length === 0) throw invalid("a branch has at least one case");
    const described = cases.map(({ when, steps }, position) => {
      const { list, needs } = describeCase(place, String(position), steps);
      return { written: { when: conditionOf(when), steps: list }, needs };
    });
    const other = otherwise && describeCase(place, "else", otherwise);
    return {
      step: {
        type: "branch",
        cases: described.map((each) => each.written),
        ...(other && { else: other.list }),
      },
      needs: [...described.flatMap(({ needs }) => needs), ...(other?.needs ?? [])],
    };
  });
}

type Described = { readonly list: readonly JsonMap[]; readonly needs: readonly Needed[] };

function describeCase(around: Place, name: string, describe: unknown): Described {
  const place = { ...around, name: `${around.name}/${name}` };
  return describing(place, () => {
    const { steps, needs } = describeList(newList(place, {}, {}), describe);
    return { list: steps, needs };
  });
}

function conditionOf(condition: Condition): Json {
  const when = written(withPaths(condition));
  const read = readWhen(when);
  if ("problem" in read) throw invalid(read.problem);
  return when;
}

function withPaths(condition: Condition): unknown {
  if ("all" in condition) return { all: condition.all.map(withPaths) };
  if ("any" in condition) return { any: condition.any.map(withPaths) };
  if ("not" in condition) return { not: withPaths(condition.not) };
  return { ...condition, path: pathOf(condition.path) };
}

function pathOf(reference: unknown): string {
  const path = bindingOf(reference)?.slice("${".length, -"}".length);
  if (path === undefined) throw invalid("the path of a predicate is a reference, such as steps.find.total");
  // A predicate follows the keys of maps only, and would find nothing in a list.
  if (/\.\d+(\.|$)/.test(path)) throw invalid(`no predicate can look into a list, as in ${path}`);
  return path;
}
