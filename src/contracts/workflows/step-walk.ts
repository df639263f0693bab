// Every step of a spec, those inside other steps included, in the order in which they are written.
import { asMap, isMap, type JsonMap, type UnknownMap } from "../json.ts";
import { onFailureOf, undoOf } from "./step-options.ts";
import { topSteps } from "./validate.ts";

/** A step where it stands. */
export type PlacedStep = {
  /** Undefined for something in a list of steps that is none. */
  readonly step: JsonMap | undefined;
  readonly path: string;
  /** 1 for the steps of the workflow itself. */
  readonly depth: number;
  /** True inside a `foreach` or `parallel` step, where the contract looks for no references. */
  readonly isRepeated: boolean;
  /** Whether a step of that id has come before, in the list of this one or around it. */
  sees(id: string): boolean;
};

/** A list of steps inside a step. One that stands alone has the path of its list. */
type InnerList = { readonly steps: readonly unknown[]; readonly path: string; readonly isSingle?: true };

/** What surrounds a list: `around` can be named from it as far as it stands before the position. */
type Around = {
  readonly depth: number;
  readonly isRepeated: boolean;
  readonly around: OpenList | undefined;
  readonly position: number;
};

type OpenList = InnerList &
  Around & {
    /** Where each id stands first. */
    readonly positions: ReadonlyMap<unknown, number>;
    next: number;
  };

/** Walks with a list of what is open, because the stack would not hold a spec that is nested deep. */
export function* eachStep(spec: UnknownMap): Generator<PlacedStep> {
  const around = { depth: 1, isRepeated: false, around: undefined, position: 0 };
  const top = openList({ steps: topSteps(spec.steps), path: "steps" }, around);
  yield* walk(top);
  const onFailure = { steps: onFailureOf({ raw: spec as JsonMap }), path: "on_failure" };
  yield* walk(openList(onFailure, { ...around, around: top, position: top.steps.length }));
}

function* walk(first: OpenList): Generator<PlacedStep> {
  const open = [first];
  for (let list = open.at(-1); list !== undefined; list = open.at(-1)) {
    if (list.next >= list.steps.length) {
      open.pop();
      continue;
    }
    const index = list.next++;
    const step = asMap(list.steps[index]) as JsonMap | undefined;
    const path = list.isSingle ? list.path : `${list.path}.${index}`;
    const { depth, isRepeated } = list;
    const here = list;
    yield { step, path, depth, isRepeated, sees: (id) => isVisible(id, here, index) };
    if (step === undefined) continue;
    for (const inside of listsInside(step, path, list, index).reverse()) open.push(inside);
  }
}

function isVisible(id: string, from: OpenList, index: number): boolean {
  let before = index;
  for (let list: OpenList | undefined = from; list !== undefined; list = list.around) {
    const position = list.positions.get(id);
    if (position !== undefined && position < before) return true;
    before = list.position;
  }
  return false;
}

function openList(list: InnerList, around: Around): OpenList {
  const positions = new Map<unknown, number>();
  for (const [index, step] of list.steps.entries()) {
    const id = asMap(step)?.id;
    if (!positions.has(id)) positions.set(id, index);
  }
  return { ...list, ...around, positions, next: 0 };
}

function listsInside(step: JsonMap, path: string, list: OpenList, position: number): OpenList[] {
  const depth = list.depth + 1;
  const inStep = { depth, isRepeated: list.isRepeated, around: list, position };
  const undo = undoOf(step);
  return [
    ...innerLists(step, path).map((inner) => openList(inner, aroundInner(step, inStep))),
    ...(undo === undefined ? [] : [openList({ steps: [undo], path: `${path}.undo`, isSingle: true }, inStep)]),
  ];
}

/** The branches of a parallel step begin with nothing of what is around it. */
function aroundInner({ type }: JsonMap, around: Around): Around {
  if (type === "foreach") return { ...around, isRepeated: true };
  return type === "parallel" ? { ...around, isRepeated: true, around: undefined } : around;
}

function innerLists(step: JsonMap, path: string): InnerList[] {
  switch (step.type) {
    case "foreach":
      return [...listAt(step, "steps", path)];
    case "parallel":
      return [...listsOf(step.branches, `${path}.branches`), ...listAt(step, "steps", path)];
    case "branch":
      return [...listsOf(step.cases, `${path}.cases`), ...listAt(step, "else", path)];
    default:
      return [];
  }
}

/** The `steps` of every map in a list. */
function* listsOf(holders: unknown, path: string): Generator<InnerList> {
  if (!Array.isArray(holders)) return;
  for (const [index, holder] of holders.entries()) {
    if (isMap(holder)) yield* listAt(holder, "steps", `${path}.${index}`);
  }
}

function* listAt(holder: UnknownMap, key: string, path: string): Generator<InnerList> {
  const steps = holder[key];
  if (Array.isArray(steps)) yield { steps, path: `${path}.${key}` };
}
