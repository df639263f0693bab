// Whether a workflow spec holds together, before anything of it runs. Errors come in a fixed order: the id, the inputs,
// the steps from the first to the last with those inside them, the triggers, and references to steps.
import { isTruthyText, truthy } from "../coerce.ts";
import { asMap, isContainer, type UnknownMap } from "../json.ts";
import { missing, notMap, type SpecError, specError } from "./spec-error.ts";
import { referenceErrors } from "./step-references.ts";
import { triggerErrors } from "./validate-triggers.ts";

/** Names of types that a host adds to those of the contract. What is no name is ignored. */
export type KnownTypes = {
  readonly knownStepTypes?: readonly unknown[] | undefined;
  readonly knownTriggerTypes?: readonly unknown[] | undefined;
};

/** The types of steps that every host knows. */
export const stepTypes: readonly string[] = ["ability", "agent", "foreach", "parallel"];

/** Everything that is wrong with a spec; none when it can be used. Any JSON may be asked about, nested however deep. */
export function validate(raw: unknown, { knownStepTypes = [], knownTriggerTypes = [] }: KnownTypes = {}): SpecError[] {
  const spec = asMap(raw) ?? {};
  return [
    ...(isTruthyText(spec.id) ? [] : [missing("id", "The id of the workflow")]),
    ...(spec.inputs == null || isContainer(spec.inputs) ? [] : [notMap("inputs", "What the workflow takes in")]),
    ...stepErrors(spec.steps, new Set<unknown>([...stepTypes, ...knownStepTypes])),
    ...triggerErrors(spec.triggers, knownTriggerTypes),
    ...referenceErrors(topSteps(spec.steps)),
  ];
}

/** The steps of a spec, which may also stand under keys; the keys say nothing. */
export function topSteps(steps: unknown): readonly unknown[] {
  return isContainer(steps) ? Object.values(steps) : [];
}

/** Steps inside a step, which are checked before what comes after them. */
type Inner = { readonly steps: readonly unknown[]; readonly path: string };

type Found = Generator<SpecError | Inner>;

function stepErrors(given: unknown, types: ReadonlySet<unknown>): SpecError[] {
  const steps = topSteps(given);
  return steps.length === 0 ? [missing("steps", "A step")] : listErrors(steps, "steps", types);
}

/** What is wrong with a list of steps, and with those inside them. */
export function listErrors(steps: readonly unknown[], path: string, types: ReadonlySet<unknown>): SpecError[] {
  return collect(checkSteps({ steps, path }, types), types);
}

/** What is wrong with a step that stands alone and needs no id. */
export function singleErrors(step: UnknownMap, path: string, types: ReadonlySet<unknown>): SpecError[] {
  return collect(checkType(step, path, types), types);
}

// Every list of steps that is open has its place in a list of ours: the stack would not hold a spec that is nested deep.
function collect(found: Found, types: ReadonlySet<unknown>): SpecError[] {
  const errors: SpecError[] = [];
  const open: Found[] = [found];
  for (let list = open.at(-1); list !== undefined; list = open.at(-1)) {
    const next = list.next();
    if (next.done) open.pop();
    else if ("code" in next.value) errors.push(next.value);
    else open.push(checkSteps(next.value, types));
  }
  return errors;
}

function* checkSteps({ steps, path }: Inner, types: ReadonlySet<unknown>): Found {
  const seen = new Set<string>();
  for (const [index, given] of steps.entries()) {
    const at = `${path}.${index}`;
    const step = asMap(given);
    if (step === undefined) {
      yield notMap(at, "The step");
      continue;
    }
    if (!isTruthyText(step.id)) yield missing(`${at}.id`, "The id of the step");
    else if (seen.has(step.id)) yield specError(`${at}.id`, "duplicate_id", `Another step has the id "${step.id}".`);
    else seen.add(step.id);
    yield* checkType(step, at, types);
  }
}

function* checkType(step: UnknownMap, at: string, types: ReadonlySet<unknown>): Found {
  const { type } = step;
  if (!isTruthyText(type)) {
    yield missing(`${at}.type`, "The type of the step");
    return;
  }
  if (!types.has(type)) {
    yield specError(`${at}.type`, "unknown_step_type", `Steps of the type "${type}" are not known here.`);
    return;
  }
  switch (type) {
    case "ability":
      if (!isTruthyText(step.ability)) yield missing(`${at}.ability`, "The name of the ability");
      return;
    case "agent":
      if (!isTruthyText(step.agent)) yield missing(`${at}.agent`, "The name of the agent");
      if (!isTruthyText(step.message)) yield missing(`${at}.message`, "The message to the agent");
      return;
    case "foreach":
      if (!Object.hasOwn(step, "items")) yield missing(`${at}.items`, "What to go through");
      yield inside(step.steps, `${at}.steps`);
      return;
    case "parallel":
      yield* checkParallel(step, at);
  }
}

function* checkParallel(step: UnknownMap, at: string): Found {
  const hasBranches = step.branches != null;
  const hasItems = Object.hasOwn(step, "items");
  if (hasBranches === hasItems) {
    yield specError(at, "invalid_parallel_shape", "A parallel step has either branches or items.");
  }
  if (hasBranches) yield* checkBranches(step.branches, `${at}.branches`);
  if (hasItems) yield inside(step.steps, `${at}.steps`);
}

function* checkBranches(branches: unknown, at: string): Found {
  if (!isFilledList(branches)) {
    yield missing(at, "A branch");
    return;
  }
  let aggregators = 0;
  for (const [index, given] of branches.entries()) {
    const branch = asMap(given);
    if (branch === undefined) {
      yield notMap(`${at}.${index}`, "The branch");
      continue;
    }
    if (!isTruthyText(branch.role)) yield missing(`${at}.${index}.role`, "The role of the branch");
    yield inside(branch.steps, `${at}.${index}.steps`);
    if (truthy(branch.is_aggregator)) aggregators++;
  }
  if (aggregators > 1) {
    yield specError(at, "invalid_parallel_aggregator", "Only one branch can be the aggregator.");
  }
}

function inside(steps: unknown, path: string): SpecError | Inner {
  return isFilledList(steps) ? { steps, path } : missing(path, "A step");
}

function isFilledList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}
