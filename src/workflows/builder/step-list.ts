// A list of steps that grows at its end: that of the workflow, of an item, of a branch, or of what follows a failure.
import { isMap, type JsonMap, type UnknownMap } from "../../contracts/json.ts";
import { unsafeNames } from "../../contracts/workflows/unsafe-names.ts";
import type { Needed } from "./needed.ts";
import { describing, invalid, type Place } from "./place.ts";
import { type Reference, reference, root } from "./reference.ts";
import { type Step, type StepKind, writerOf } from "./step.ts";
import { type StepOptions, writeOptions } from "./step-options.ts";

/** References to the outputs of steps, by id. Where a failure is tolerated they may come to null. */
export type References<Outputs, Nothing = never> = {
  readonly [Id in keyof Outputs]: Reference<Outputs[Id] | Nothing>;
};

/** What the function that describes a step is given. */
export type ScopeOf<Scope, Outputs, Nothing = never> = Scope & { readonly steps: References<Outputs, Nothing> };

/** An id that is free; a sentence about it where it is taken. */
export type NewId<Id extends string, Outputs> = Id extends keyof Outputs ? `There is a step "${Id}" already.` : Id;

export type NoOutputs = Record<never, never>;

declare const listed: unique symbol;

/** Steps that were described, by what comes out of them and of the last. */
export interface Listed<Outputs, Last> {
  readonly [listed]?: { readonly outputs: Outputs; readonly last: Last };
}

/** The steps of an item or a branch. Each call of `step` returns a longer list and leaves this one as it is. */
export interface Steps<Scope, Outputs = NoOutputs, Last = never, Nothing = never> extends Listed<Outputs, Last> {
  /** Adds a step. It can refer to those before it. Throws `invalid_workflow` for what cannot stand in a spec. */
  step<const Id extends string, Output, Kind extends StepKind>(
    id: NewId<Id, Outputs>,
    step: Step<Output, Kind> | ((scope: ScopeOf<Scope, Outputs, Nothing>) => Step<Output, Kind>),
    options?: StepOptions<Output, Kind, ScopeOf<Scope, Outputs, Nothing>>,
  ): Steps<Scope, Outputs & { readonly [Key in Id]: Output }, Output, Nothing>;
}

export type StepList = {
  readonly place: Place;
  /** Whose references these are. */
  readonly owner: object;
  /** What the functions that describe steps are given beside `steps`. */
  readonly scope: UnknownMap;
  /** Steps of another list that can be referred to as if they stood in this one. */
  readonly visible: readonly string[];
  readonly steps: readonly JsonMap[];
  readonly needs: readonly Needed[];
};

/** An empty list. `owner` is what the references of its scope belong to. */
export function newList(place: Place, owner: object, scope: UnknownMap, visible: readonly string[] = []): StepList {
  const owners = new Set([...place.owners, owner]);
  return { place: { ...place, owners }, owner, scope, visible, steps: [], needs: [] };
}

// The validator finds references to ids of these letters only.
const ID = /^[A-Za-z0-9_-]+$/;

export function isPlainId(id: unknown): id is string {
  return typeof id === "string" && ID.test(id) && !unsafeNames.includes(id);
}

export function append(list: StepList, id: unknown, given: unknown, options: unknown = {}): StepList {
  const place = describing(list.place, () => placeOf(list, id));
  return describing(place, () => {
    const visible = { ...list.scope, steps: stepsOf(list) };
    const step: unknown = typeof given === "function" ? given(visible) : given;
    const write = writerOf(step);
    if (!write) throw invalid("what was given is no step, or the function has not returned one");
    const own = write(place);
    const { kind } = step as Step<unknown>;
    const asked = writeOptions(isMap(options) ? options : {}, kind, place, visible);
    return {
      ...list,
      steps: [...list.steps, { id: place.id, ...own.step, ...asked.step }],
      needs: [...list.needs, ...(own.needs ?? []), ...(asked.needs ?? [])],
    };
  });
}

/** Where the next step of the list stands. */
function placeOf(list: StepList, id: unknown): Place & { readonly id: string } {
  const { place: around } = list;
  if (!isPlainId(id)) throw invalid(`${JSON.stringify(id)} cannot be an id: letters, digits, _ and - make one`);
  if (around.isTaken(id) || hasStep(list, id)) throw invalid(`there is a step "${id}" already, here or around`);
  const isTaken = (inner: string) => inner === id || around.isTaken(inner) || hasStep(list, inner);
  return { ...around, name: `${around.name}/${id}`, id, isTaken };
}

export function hasStep({ steps }: StepList, id: string): boolean {
  return steps.some((step) => step.id === id);
}

/** What stands as `steps` in the scope of the next step. */
function stepsOf(list: StepList): object {
  const { owner, visible } = list;
  return root("steps", (id) => {
    if (!visible.includes(id) && !hasStep(list, id)) throw invalid(`no step "${id}" comes before it`);
    return reference(owner, `steps.${id}.output`);
  });
}

const lists = new WeakMap<object, StepList>();

/** The list as those see it who describe its steps. */
function stepsFor(list: StepList): object {
  const made = Object.freeze({
    step: (id: unknown, given: unknown, options?: unknown) => stepsFor(append(list, id, given, options)),
  });
  lists.set(made, list);
  return made;
}

/** The steps that are described by a function which is handed the empty list. */
export function describeList(empty: StepList, describe: unknown): StepList {
  if (typeof describe !== "function") throw invalid("a function is needed that describes the steps");
  const described: unknown = describe(stepsFor(empty));
  const list = typeof described === "object" && described !== null ? lists.get(described) : undefined;
  if (list?.owner !== empty.owner) throw invalid("the function that describes the steps has to return them");
  if (list.steps.length === 0) throw invalid("a list of steps has at least one");
  return list;
}
