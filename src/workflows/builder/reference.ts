// What stands in a workflow for a value that only a run will know. Property access builds its path; written into a step it
// becomes a binding. It has no value by itself, and whatever would need one is refused.
import { trim } from "../../contracts/coerce.ts";
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { invalid, openPlace } from "./place.ts";

declare const value: unique symbol;

export interface ReferenceTo<Value> {
  readonly [value]: Value;
  /** Never call this. It lets TypeScript see that a condition on a reference is always true, as it does for promises. */
  readonly then: (use: (value: never) => unknown) => never;
}

/** A value of a run, and the way to what is in it. What may be null stays so, whatever is named below it. */
export type Reference<Value> = ReferenceTo<Value> & Fields<NonNullable<Value>, Extract<Value, null | undefined>>;

/** References to the fields of a map or the items of a list. At an index, or under any key, there may be nothing. */
export type Fields<Value, Nothing = never> = Value extends readonly (infer Item)[]
  ? { readonly [index: number]: Reference<Item | null> }
  : Value extends object
    ? {
        readonly [Key in keyof Value & string]-?: Reference<
          Present<Value[Key]> | NullFor<Nothing> | (string extends Key ? null : never)
        >;
      }
    : unknown;

/** A binding finds null where there is nothing. */
type Present<Value> = Exclude<Value, undefined> | NullFor<Extract<Value, undefined>>;
type NullFor<Nothing> = [Nothing] extends [never] ? never : null;

const texts = new WeakMap<object, () => string>();

/** A reference at a path such as `steps.find.output`, which the list of steps `owner` has handed out. */
export function reference(owner: object, path: string): object {
  return standIn(
    path,
    (key) => reference(owner, `${path}.${reachable(path, key)}`),
    () => {
      checkPlace(owner, path);
      return `\${${path}}`;
    },
  );
}

/** What is no value itself: only what is below it can be bound. */
export function root(path: string, field: (key: string) => unknown): object {
  return standIn(path, field, () => {
    throw used(`${path} has no value as a whole; use what is in it`);
  });
}

/** The text that a reference is written as; undefined for anything else. */
export function bindingOf(given: unknown): string | undefined {
  return typeof given === "function" ? texts.get(given)?.() : undefined;
}

/** A key that can stand in the path of a binding. */
export function reachable(path: string, key: string): string {
  if (key === "" || key === "__proto__" || /[.}]/.test(key) || trim(key) !== key) {
    throw invalid(`no binding can reach ${JSON.stringify(key)} in ${path}`);
  }
  return key;
}

// A function as the target, so that a call of what is none, such as steps.find.lines.map(…), is refused by name.
function standIn(path: string, field: (key: string) => unknown, text: () => string): object {
  const refuse = (what: string) => (): never => {
    throw used(`${path} was ${what}`);
  };
  const made = new Proxy(() => undefined, {
    get(_, key) {
      if (typeof key === "string") return field(key);
      if (key === Symbol.toPrimitive)
        return (hint: string) => (hint === "string" ? text() : refuse("used with an operator")());
      if (key === Symbol.iterator || key === Symbol.asyncIterator) return refuse("gone through")();
      return undefined;
    },
    apply: refuse("called"),
    construct: refuse("called"),
    has: refuse("looked into"),
    ownKeys: refuse("looked into"),
    set: refuse("written to"),
    defineProperty: refuse("written to"),
    deleteProperty: refuse("written to"),
  });
  texts.set(made, text);
  return made;
}

function checkPlace(owner: object, path: string): void {
  const place = openPlace();
  if (!place) throw used(`${path} was put into words while no step was described`);
  if (owner !== place.inputs && !place.owners.has(owner))
    throw used(`${place.name}: ${path} does not exist here, only where it came from`);
}

function used(detail: string): HoldfastError {
  return holdfastError("workflow_reference_used", detail);
}
