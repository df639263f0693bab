// What the machine works with beside its state: the steps as they were declared, and what was said and returned so far.
import { nonEmptyString } from "../../contracts/coerce.ts";
import { emptyMap, isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { undoOf } from "../../contracts/workflows/step-options.ts";
import type { StepEnd } from "./facts.ts";
import { ON_FAILURE, parentOf, positionOf, ROLLBACK, ROOT } from "./path.ts";

/** Why a step failed: a code, a sentence, and whatever else its handler has said. */
export type StepError = JsonMap;

/** What is known of a step or a part, beside the facts. */
export type Body = {
  /** How it ended; absent while it is open. */
  readonly status?: StepEnd;
  readonly started_at?: number;
  readonly ended_at?: number;
  /** What carries the step out, in words. */
  readonly handler?: string;
  /** The step with its bindings expanded. */
  readonly resolved?: JsonMap;
  /** The items of a step that has any. */
  readonly items?: readonly Json[];
  /** The case that was chosen in a branch. */
  readonly chosen?: number;
  readonly output?: Json;
  readonly error?: StepError;
  /** What the step waits for. */
  readonly suspend?: JsonMap;
};

/**
 * What is known by path: as much of a map as the machine needs, so that a driver can see what it changes, and may read what is
 * stored only when it is asked for. It throws `Unread` then.
 */
export type Bodies = {
  get(path: string): Body | undefined;
  has(path: string): boolean;
  set(path: string, body: Body): unknown;
  delete(path: string): unknown;
  /** All that stands below this path is about to be asked for. */
  expectAllBelow?(path: string): void;
};

/** Paths in the order in which their steps ended: as much of a list as the machine needs, which may be read late as well. */
export type Undoable = Iterable<string> & {
  get length(): number;
  /** Takes all of them out. */
  set length(none: 0);
  at(position: number): string | undefined;
  push(path: string): unknown;
};

export type Working = {
  readonly steps: readonly JsonMap[];
  readonly inputs: JsonMap;
  /** What `vars` holds for the steps of the run itself. */
  readonly vars: JsonMap;
  /** Whether the run goes on behind a step of its own that failed. It has failed all the same. */
  readonly continueOnError: boolean;
  /** The first step that is carried out; what is known of those before it was taken from another run. */
  readonly startsAt: number;
  /** How many steps may run at the same time. */
  readonly room: number;
  /**
   * While it is true, nothing new begins: no step is opened, no part begun, nothing tried again. What is open ends as ever, and a
   * run that is cancelled ends. The driver may change it between two steps of the machine.
   */
  holdsBack: boolean;
  /** Whether a host decides how parallel steps of the run itself are carried out. */
  readonly asksFanOut: boolean;
  /** The types of steps beside those of the contract that the machine itself carries out. */
  readonly own: ReadonlySet<string>;
  /** What runs once the run has failed. */
  readonly onFailure: readonly JsonMap[];
  /** The steps that have succeeded and say what undoes them, in the order in which they ended. */
  readonly undoable: Undoable;
  readonly bodies: Bodies;
};

const noTypes: ReadonlySet<string> = new Set();

/** What a run begins with, where it has nothing but steps. */
export function newWorking(given: Pick<Working, "steps"> & Partial<Working>): Working {
  return {
    inputs: emptyMap,
    vars: emptyMap,
    continueOnError: false,
    startsAt: 0,
    room: 1,
    holdsBack: false,
    asksFanOut: false,
    own: noTypes,
    onFailure: [],
    undoable: [],
    bodies: new Map(),
    ...given,
  };
}

export type StepKind = "foreach" | "map" | "roles" | "branch" | "single";

/** How a step is carried out: by its parts, or as a whole. */
export function kindOf({ own }: Pick<Working, "own">, { type, branches }: JsonMap): StepKind {
  if (type === "foreach") return "foreach";
  if (type === "branch" && own.has("branch")) return "branch";
  if (type !== "parallel") return "single";
  return branches === undefined || branches === null ? "map" : "roles";
}

/** True for a step whose branches see nothing of what is around it. */
export function isParallel(kind: StepKind): boolean {
  return kind === "map" || kind === "roles";
}

/** The steps of the run, of an item or of a branch. */
export function stepsAt(working: Working, path: string): readonly JsonMap[] {
  if (path === ROOT) return working.steps;
  if (path === ON_FAILURE) return working.onFailure;
  const container = stepAt(working, parentOf(path));
  switch (kindOf(working, container)) {
    case "roles":
      return listOfMaps(branchesOf(container)[positionOf(path)]?.steps);
    case "branch":
      return stepsOfCase(container, positionOf(path));
    default:
      return listOfMaps(container.steps);
  }
}

/** The steps of a case of a branch; behind its cases stands what it does otherwise. */
function stepsOfCase(branch: JsonMap, position: number): readonly JsonMap[] {
  const cases = listOfMaps(branch.cases);
  return listOfMaps(position < cases.length ? cases[position]?.steps : branch.else);
}

/** How many steps a list has. */
export function lengthOf(working: Working, path: string): number {
  return path === ROLLBACK ? working.undoable.length : stepsAt(working, path).length;
}

/** A step as it was declared. */
export function stepAt(working: Working, path: string): JsonMap {
  const list = parentOf(path);
  const step =
    list === ROLLBACK ? undoOf(stepAt(working, undoneBy(working, path))) : stepsAt(working, list)[positionOf(path)];
  if (!step) throw new Error(`There is no step at "${path}".`);
  return step;
}

/** The step that a step of the rollback undoes: the last that ended is undone first. */
export function undoneBy({ undoable }: Working, path: string): string {
  const undone = undoable.at(-1 - positionOf(path));
  if (undone === undefined) throw new Error(`Nothing is undone at "${path}".`);
  return undone;
}

export function branchesOf(step: JsonMap): readonly JsonMap[] {
  return listOfMaps(step.branches);
}

/** Under which names the steps of a part find its item and its position. */
export function namesOf({ as, index_as }: JsonMap): { readonly as: string; readonly index_as: string } {
  return { as: nonEmptyString(as) ?? "item", index_as: nonEmptyString(index_as) ?? "index" };
}

/** The position of the branch that gets the outputs of all others; null when there is none. */
export function aggregatorOf(branches: readonly JsonMap[], isAggregator: (branch: JsonMap) => boolean): number | null {
  const position = branches.findIndex(isAggregator);
  return position === -1 ? null : position;
}

/** What the body of a path is known to be, nothing if nothing is. */
export function bodyOf({ bodies }: Working, path: string): Body {
  return bodies.get(path) ?? {};
}

const lists = new WeakMap<object, readonly JsonMap[]>();

/** A list of steps, branches or cases. What is no map there stands for a step that nobody can run. */
function listOfMaps(value: Json | undefined): readonly JsonMap[] {
  if (!Array.isArray(value)) return [];
  const known = lists.get(value);
  if (known) return known;
  const list = (value as readonly Json[]).map((each) => (isMap(each) ? (each as JsonMap) : emptyMap));
  lists.set(value, list);
  return list;
}
