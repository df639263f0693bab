// Which hooks run for whoever acts, and in which order.
import type { HookDefinition, HookName } from "../definitions/hook.ts";
import type { Registry } from "../definitions/registry.ts";

/** A hook that an agent installs on the parents that use it as a child. */
export type ParentHook = { readonly hook: string; readonly stage: "before_parent" | "after_parent" };

/** The hooks of each place, in the order in which they run; a place without hooks is not in it. */
export type HookSet = ReadonlyMap<HookName, readonly HookDefinition[]>;

export const noHooks: HookSet = new Map();

/** By their ids. Those of a prompt stand in place of those of its agent. */
export type ListedHooks = {
  readonly agent: readonly string[];
  readonly prompt: readonly string[];
  /** What the children of the agent install on it. */
  readonly children?: readonly ParentHook[];
};

/** A hook that is listed several times runs once, where it is listed first. */
export function hooksFor({ hooks }: Pick<Registry, "hooks">, { agent, prompt, children = [] }: ListedHooks): HookSet {
  const installed = (stage: ParentHook["stage"]) => children.filter((child) => child.stage === stage);
  const own = prompt.length > 0 ? prompt : agent;
  const ids = new Set([
    ...installed("before_parent").map(({ hook }) => hook),
    ...own,
    ...installed("after_parent").map(({ hook }) => hook),
  ]);
  if (ids.size === 0) return noHooks;
  return Map.groupBy([...ids].map(known), ({ hook }) => hook);

  function known(id: string): HookDefinition {
    const found = hooks.get(id);
    // Names are looked up when the process starts; left out, a hook that forbids something would forbid nothing.
    if (!found) throw new Error(`There is no hook "${id}".`);
    return found;
  }
}
