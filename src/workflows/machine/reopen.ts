// A run that has failed goes on: what has succeeded is kept, and all else is carried out anew.
import { apply, draftOf } from "./apply.ts";
import { hasSucceeded } from "./kept-parts.ts";
import type { Step } from "./next.ts";
import { below, ROOT } from "./path.ts";
import type { State } from "./state.ts";
import { lengthOf, type Working } from "./working.ts";

/** Why a run cannot be reopened: only one that has failed can, and what was undone cannot be gone on behind. */
export type NotReopened = { readonly refused: "not_failed" | "rolled_back" };

/** What changes before the machine is driven on. */
export type Reopened = Pick<Step, "state" | "facts" | "changed">;

/**
 * Opens a run again at the first of its steps that has not succeeded. It is not carried on yet: `advance` does that. Steps that
 * have succeeded are kept where they come up, also in the parts of a step that has failed, and also those that follow a failure.
 */
export function reopen(state: State, working: Working): Reopened | NotReopened {
  if (state.status !== "failed") return { refused: "not_failed" };
  if (state.isRolledBack) return { refused: "rolled_back" };
  const draft = draftOf(state);
  const fact = { type: "run.reopened", at: firstToCarryOut(working) } as const;
  apply(draft, fact);
  working.bodies.delete(ROOT);
  return { state: draft, facts: [fact], changed: new Set([ROOT]) };
}

function firstToCarryOut(working: Working): number {
  const count = lengthOf(working, ROOT);
  let at = working.startsAt;
  while (at < count && hasSucceeded(working, below(ROOT, at))) at++;
  return at;
}
