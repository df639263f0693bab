// The one place where a host listens in or has a say. An event tells and ignores what it is told back; a filter may
// replace a value, and a replacement of the wrong shape is ignored. Neither can break a run, except for a gate,
// without whose answer nothing of what it guards may happen.
import { type EventName, type FilterName, gates, type HookEvents, type HookFilters, isUsable } from "./seams.ts";
import { quietly, whenReady } from "./when-ready.ts";

export type Listener<Name extends EventName> = (...told: HookEvents[Name]) => unknown;
export type Filter<Name extends FilterName> = (
  value: HookFilters[Name]["value"],
  ...about: HookFilters[Name]["about"]
) => unknown;

export interface Hooks {
  /** Listens to an event; the function that is returned stops listening. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  /** Adds a filter behind those already there; the function that is returned removes it. */
  filter<Name extends FilterName>(name: Name, filter: Filter<Name>): () => void;
  /** True when somebody listens to the event or filters the value. */
  has(name: EventName | FilterName): boolean;
  /** Tells every listener; what they throw, reject or return is dropped. */
  emit<Name extends EventName>(name: Name, ...told: HookEvents[Name]): void;
  /**
   * Passes a value through the filters in order; one that throws or answers nonsense leaves it as it was. What a gate
   * throws is thrown on.
   */
  apply<Name extends FilterName>(
    name: Name,
    value: HookFilters[Name]["value"],
    ...about: HookFilters[Name]["about"]
  ): HookFilters[Name]["value"] | Promise<HookFilters[Name]["value"]>;
}

type AnyFunction = (...given: never[]) => unknown;

/** An empty registry of hooks. */
export function createHooks(): Hooks {
  const registered = new Map<string, AnyFunction[]>();

  function register(name: string, hook: AnyFunction): () => void {
    // A function of its own for each registration, so that the same hook can be there twice. Lists are replaced, not
    // changed, so that a hook may remove itself while it is being called.
    const entry: AnyFunction = (...given) => hook(...given);
    registered.set(name, [...(registered.get(name) ?? []), entry]);
    return () => {
      const left = (registered.get(name) ?? []).filter((other) => other !== entry);
      if (left.length > 0) registered.set(name, left);
      else registered.delete(name);
    };
  }

  return {
    on: register,
    filter: register,
    has: (name) => registered.has(name),
    emit(name, ...told) {
      for (const listener of registered.get(name) ?? []) quietly(() => (listener as Listener<typeof name>)(...told));
    },
    apply(name, value, ...about) {
      type Value = typeof value;
      const filters = (registered.get(name) ?? []) as ((...given: unknown[]) => unknown)[];
      const pass = (current: Value, from: number): Value | Promise<Value> => {
        const filter = filters[from];
        if (!filter) return current;
        const ask = () => filter(current, ...about);
        return whenReady(gates.has(name) ? ask() : quietly(ask), (answer) =>
          pass(isUsable[name](answer) ? (answer as Value) : current, from + 1),
        );
      };
      return pass(value, 0);
    },
  };
}
