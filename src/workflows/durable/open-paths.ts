// The paths of a run that something is asked of as soon as it goes on.
import { isTopList, parentOf } from "../machine/path.ts";
import type { State } from "../machine/state.ts";

/** The steps that are open, and those that they stand in. Lists and parts have a body only once they have failed. */
export function openPaths({ steps, scopes }: State): readonly string[] {
  const found = new Set<string>();
  const lists = Object.keys(scopes).filter((path) => scopes[path]?.kind === "fan_out");
  for (const open of [...Object.keys(steps), ...lists]) {
    for (let path = open; !found.has(path); path = parentOf(parentOf(path))) {
      found.add(path);
      if (isTopList(parentOf(path))) break;
    }
  }
  return [...found];
}
