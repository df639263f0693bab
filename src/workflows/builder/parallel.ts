// A step whose branches run beside each other. They see the inputs of the run, and of the steps around them nothing but the
// context that they are given.
import { isMap, type JsonMap, type UnknownMap } from "../../contracts/json.ts";
import type { Needed } from "./needed.ts";
import { describing, invalid, type Place } from "./place.ts";
import { type Reference, reference } from "./reference.ts";
import { newStep, type Step } from "./step.ts";
import { describeList, isPlainId, type Listed, type NoOutputs, newList, type Steps } from "./step-list.ts";
import type { ExpressionMap, Given, Resolved } from "./values.ts";
import { written } from "./written.ts";

/** The failure of a branch that is not required. */
export type BranchFailed = { readonly error: { readonly code: string; readonly message: string } };

export type BranchScope<Context> = { readonly context: Reference<Resolved<Context>> };

export type AggregateScope<Context, Outputs> = BranchScope<Context> & {
  /** What each branch has come to. */
  readonly outputs: { readonly [Role in keyof Outputs]: Reference<Outputs[Role]> };
};

type Tolerated<Outputs, Required> = {
  readonly [Role in keyof Outputs]: Role extends Required ? Outputs[Role] : Outputs[Role] | BranchFailed;
};

export type ParallelOutput<Outputs, Final> = {
  readonly shape: "roles";
  /** What the last step of each branch has returned, or why the branch failed. */
  readonly branch_outputs: Outputs;
  /** What the last step of `aggregate` has returned. */
  readonly final: Final;
};

export type ParallelDefinition<Context extends ExpressionMap, Outputs, Required extends string, Final> = {
  /** What the branches are given of what is around them. */
  readonly context?: Context;
  /** The roles of the branches without which the step fails. */
  readonly required?: readonly Required[];
  /** The steps of each branch, by its role. */
  readonly branches: {
    readonly [Role in keyof Outputs]: (branch: Steps<BranchScope<Context>>) => Listed<unknown, Outputs[Role]>;
  };
  /** What runs when all branches have ended. */
  readonly aggregate?: (branch: Steps<AggregateScope<Context, Tolerated<Outputs, Required>>>) => Listed<unknown, Final>;
};

const AGGREGATE = "aggregate";

/** All branches run at the same time. */
export function parallel<
  Outputs,
  Context extends ExpressionMap = NoOutputs,
  Required extends string = never,
  Final = null,
>(
  definition: ParallelDefinition<Context, Outputs, Required, Final>,
): Step<ParallelOutput<Tolerated<Outputs, Required>, Given<Final>>, "parts"> {
  const { context, required = [], branches, aggregate } = definition;
  return newStep("parts", (place) => {
    const roles = Object.keys(isMap(branches) ? branches : {});
    const wrong = roles.find((role) => !isPlainId(role) || role === AGGREGATE);
    if (wrong !== undefined) throw invalid(`${JSON.stringify(wrong)} cannot be a role`);
    const absent = required.find((role) => !roles.includes(role));
    if (absent !== undefined) throw invalid(`no branch has the role "${absent}"`);
    const described = Object.entries(branches).map(([role, steps]) => {
      return describeBranch(place, role, steps, { ...(required.some((each) => each === role) && { required: true }) });
    });
    if (aggregate) {
      described.push(describeBranch(place, AGGREGATE, aggregate, { required: true, is_aggregator: true }));
    }
    const step = {
      type: "parallel",
      ...(context !== undefined && { context: written(context) }),
      branches: described.map(({ branch }) => branch),
    };
    return { step, needs: described.flatMap(({ needs }) => needs) };
  });
}

type Described = { readonly branch: JsonMap; readonly needs: readonly Needed[] };

function describeBranch(around: Place, role: string, steps: unknown, more: JsonMap): Described {
  const owner = {};
  const scope: UnknownMap = {
    context: reference(owner, "vars.context"),
    ...(more.is_aggregator && { outputs: reference(owner, "vars.branch_outputs") }),
  };
  const place = { ...around, name: `${around.name}/${role}`, owners: new Set<object>() };
  const list = describing(place, () => describeList(newList(place, owner, scope), steps));
  return { branch: { role, ...more, steps: list.steps }, needs: list.needs };
}
