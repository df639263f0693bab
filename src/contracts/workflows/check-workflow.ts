// Whether a workflow can be run here: what the bare validator says of it, with our own types of steps understood, and what
// is refused so that no spec can harm whoever runs it. What is carried along and asks for nothing gives a notice.
import { isContainer, isMap, type JsonMap, type UnknownMap } from "../json.ts";
import { type CheckedStepType, isCheckedStepType } from "./known-types.ts";
import { isOwnType, ownErrors, ownStepTypes, readWhen, stepsInPredicate } from "./own-steps.ts";
import { readJson } from "./spec.ts";
import { type SpecError, specError } from "./spec-error.ts";
import { inputErrors } from "./step-inputs.ts";
import { optionNotices } from "./step-notices.ts";
import { onFailureOf, undoOf } from "./step-options.ts";
import { innerKeys, referredSteps, unknownReference } from "./step-references.ts";
import { eachStep, type PlacedStep } from "./step-walk.ts";
import { unsafeNames } from "./unsafe-names.ts";
import { listErrors, singleErrors, stepTypes, validate } from "./validate.ts";

/** Steps inside one another. What a step holds stands in its output twice, so that each level may double the record of a run. */
const DEEPEST = 12;
/** Steps of a workflow in all. */
const MOST_STEPS = 10_000;
/** Items or branches that stand in the spec itself. */
const MOST_ITEMS = 100_000;

export type CheckOptions = {
  /** Types of steps that the installation adds to the contract's and ours: names, or what `stepType` has made. */
  readonly stepTypes?: readonly unknown[] | undefined;
  readonly triggerTypes?: readonly unknown[] | undefined;
  /** The ids of the workflows that another one runs, see `nestedWorkflows`; none for one that nobody knows yet. */
  readonly workflows?: ((workflowId: string) => readonly string[]) | undefined;
};

export type WorkflowCheck = {
  /** What keeps the workflow from being used. */
  readonly errors: readonly SpecError[];
  /** What its author may have meant otherwise. */
  readonly notices: readonly SpecError[];
};

/** Looks at a spec as it was written. One that is too large is not looked at any further. */
export function checkWorkflow(given: unknown, options: CheckOptions = {}): WorkflowCheck {
  const size = isMap(given) ? sizeError(given) : undefined;
  if (size !== undefined) return { errors: [size], notices: [] };
  const raw = readJson(given);
  if (raw === undefined) return { errors: [notJson], notices: [] };
  const added = options.stepTypes ?? [];
  const checked = new Map(added.filter(isCheckedStepType).map((each) => [each.type, each]));
  const types = new Set<unknown>([...stepTypes, ...Object.keys(ownStepTypes), ...added, ...checked.keys()]);
  const known = { knownStepTypes: [...types], knownTriggerTypes: options.triggerTypes };
  const steps = [...eachStep(raw)];
  const references = steps.flatMap((placed) => referenceErrors(placed).map((error) => ({ error, placed })));
  return {
    errors: [
      // Those to steps are looked for below, where it is known which steps stand where.
      ...validate(raw, known).filter(({ code }) => code !== "unknown_step_reference"),
      ...unsafeId(raw.id, "id"),
      ...steps.flatMap((placed) => [...stepErrors(placed, types, checked)]),
      ...listErrors(onFailureOf({ raw }), "on_failure", types),
      ...nestingErrors(raw.id, steps, options.workflows ?? (() => [])),
      ...references.filter(({ placed }) => !placed.isRepeated).map(({ error }) => error),
    ],
    notices: [
      ...optionNotices(raw, steps),
      ...references.filter(({ placed }) => placed.isRepeated).map(({ error }) => error),
    ],
  };
}

/** The ids of the workflows that a spec runs, each once. One that is put together when it runs is not known before. */
export function nestedWorkflows(raw: JsonMap): readonly string[] {
  const ids = [...eachStep(raw)].map(({ step }) => nestedIn(step));
  return [...new Set(ids.filter((id) => id !== undefined))];
}

const notJson = specError("", "not_json", "The spec cannot be kept: it is no plain JSON.");

/** First of all, and before anything is copied: what follows may then go down as deep as the spec does. */
function sizeError(raw: UnknownMap): SpecError | undefined {
  let count = 0;
  for (const { path, depth } of eachStep(raw)) {
    count++;
    if (depth > DEEPEST)
      return specError(path, "too_deep", `Steps stand in one another at most ${DEEPEST} levels deep.`);
    if (count > MOST_STEPS) return specError("steps", "too_many_steps", `A workflow has at most ${MOST_STEPS} steps.`);
  }
  return undefined;
}

function* unsafeId(id: unknown, path: string): Generator<SpecError> {
  if (typeof id === "string" && unsafeNames.includes(id)) {
    yield specError(path, "unsafe_id", `Nothing can be called ${id}.`);
  }
}

function* stepErrors(
  { step, path }: PlacedStep,
  types: ReadonlySet<unknown>,
  checked: ReadonlyMap<unknown, CheckedStepType>,
): Generator<SpecError> {
  if (step === undefined) return;
  yield* unsafeId(step.id, `${path}.id`);
  if (step.type === "parallel") yield* roleErrors(step.branches, `${path}.branches`);
  if (step.type === "foreach" || step.type === "parallel") yield* sizesOf(step, path);
  if (isOwnType(step.type)) yield* ownErrors(step, step.type, path, types);
  const type = checked.get(step.type);
  if (type !== undefined) yield* inputErrors(step, type, path);
  const undo = undoOf(step);
  if (undo !== undefined) yield* singleErrors(undo, `${path}.undo`, types);
}

function* roleErrors(branches: unknown, path: string): Generator<SpecError> {
  if (!Array.isArray(branches)) return;
  for (const [index, branch] of branches.entries()) {
    if (isMap(branch)) yield* unsafeId(branch.role, `${path}.${index}.role`);
  }
}

function* sizesOf(step: JsonMap, path: string): Generator<SpecError> {
  for (const key of ["items", "branches"]) {
    const items = step[key];
    if (!isContainer(items) || Object.keys(items).length <= MOST_ITEMS) continue;
    yield specError(`${path}.${key}`, "too_many_items", `A step goes through at most ${MOST_ITEMS} items.`);
  }
}

function nestedIn(step: JsonMap | undefined): string | undefined {
  const { type, workflow } = step ?? {};
  return type === "workflow" && typeof workflow === "string" ? workflow : undefined;
}

function nestingErrors(
  id: unknown,
  steps: readonly PlacedStep[],
  nestedBy: NonNullable<CheckOptions["workflows"]>,
): SpecError[] {
  if (typeof id !== "string" || id === "") return [];
  const leading = leadingTo(id, new Set(steps.flatMap(({ step }) => nestedIn(step) ?? [])), nestedBy);
  return steps.flatMap(({ step, path }) => {
    const nested = nestedIn(step);
    if (nested === undefined || !leading.has(nested)) return [];
    const how = nested === id ? "itself" : `"${nested}", which runs it again`;
    return [specError(`${path}.workflow`, "nests_itself", `The workflow runs ${how}.`)];
  });
}

/** The workflow itself, and all that run it, directly or through others, among those that are reached from some. */
function leadingTo(
  id: string,
  from: ReadonlySet<string>,
  nestedBy: NonNullable<CheckOptions["workflows"]>,
): ReadonlySet<string> {
  const parents = new Map<string, string[]>();
  const reached = new Set(from);
  // A set hands out what is added to it while it is gone through.
  for (const each of reached) {
    if (each === id) continue;
    for (const nested of nestedBy(each)) {
      const known = parents.get(nested);
      if (known === undefined) parents.set(nested, [each]);
      else known.push(each);
      reached.add(nested);
    }
  }
  const leading = new Set([id]);
  for (const each of leading) for (const parent of parents.get(each) ?? []) leading.add(parent);
  return leading;
}

function referenceErrors({ step, path, sees }: PlacedStep): SpecError[] {
  if (step === undefined) return [];
  const inner = step.type === "branch" ? ["cases", "else"] : innerKeys(step);
  const except = undoOf(step) === undefined ? inner : [...inner, "undo"];
  const unknown = [...referredSteps(step, except)].filter((id) => !sees(id));
  return [
    ...unknown.map((id) => unknownReference(path, id)),
    ...(step.type === "branch" ? predicateReferences(step.cases, path, sees) : []),
  ];
}

function predicateReferences(cases: unknown, path: string, sees: PlacedStep["sees"]): SpecError[] {
  if (!Array.isArray(cases)) return [];
  return cases.flatMap((each, index) => {
    const read = isMap(each) ? readWhen((each as JsonMap).when ?? null) : { problem: "" };
    const ids = "predicate" in read ? stepsInPredicate(read.predicate) : [];
    return ids.filter((id) => !sees(id)).map((id) => unknownReference(`${path}.cases.${index}.when`, id));
  });
}
