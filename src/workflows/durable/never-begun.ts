// What a state says about steps that were not begun yet: nothing is stored of them, which need not be looked up.
import { isTopList, ON_FAILURE, parentOf, positionOf, ROLLBACK, ROOT } from "../machine/path.ts";
import type { State } from "../machine/state.ts";

type About = {
  /** False for a run that was opened again: there may be something behind the places where it stands. */
  readonly isFirst: boolean;
  /** What is before that step was taken from another run. */
  readonly startsAt: number;
};

/** True for paths of which nothing can be known in that state, unless it says that they are open: those are read in any case. */
export function isNeverBegunIn(state: State, { isFirst, startsAt }: About): (path: string) => boolean {
  return (path) => isFirst && isNeverBegun(state, startsAt, path);
}

function isNeverBegun(state: State, startsAt: number, path: string): boolean {
  const { stage, seq, scopes, isRolledBack } = state;
  if (path === ROOT) return stage === "steps" && state.status === "running";
  for (let child = path; ; child = parentOf(child)) {
    if (isTopList(child)) {
      if (child === ROLLBACK) return !isRolledBack;
      if (child === ON_FAILURE) return stage !== "on_failure";
      return seq === 0 && Number(path.split("/", 1)[0]) >= startsAt;
    }
    const list = scopes[parentOf(child)];
    const position = positionOf(child);
    if (list?.kind === "fan_out") return position >= list.next || position === list.aggregator;
    if (list?.kind !== "sequence") continue;
    return position >= list.at;
  }
}
