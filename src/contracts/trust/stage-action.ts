// Keeping a proposal where somebody can find and decide it.
import { sortedText } from "../canonical-json.ts";
import type { Hooks } from "../hooks.ts";
import type { JsonMap } from "../json.ts";
import { isTerminal, type PendingAction } from "./pending-action.ts";
import { isPendingActionStore, type PendingActionStore } from "./pending-action-store.ts";

/** Who keeps pending actions: the store that is passed, else the one that a hook names; there may be none. */
export type PendingActionHost = {
  readonly pendingActionStore?: PendingActionStore | null | undefined;
  readonly hooks?: Hooks | undefined;
};

/**
 * Stores the action if there is a store for it. Throws when the store refuses it or is none, when its id stands for
 * another action or one that was decided, and when nobody waits for it any more.
 */
export async function stageAction(
  action: PendingAction,
  { pendingActionStore, hooks }: PendingActionHost,
  context: JsonMap,
  signal?: AbortSignal,
): Promise<void> {
  const store = pendingActionStore ?? (await hooks?.apply("pendingActionStore", null, context)) ?? null;
  if (store === null) return;
  if (!isPendingActionStore(store)) throw new Error("What should keep pending actions cannot store one.");
  const known = typeof store.get === "function" ? await store.get(action.action_id, true) : null;
  if (known != null) {
    if (isSame(known, action)) return;
    throw new Error("Another action, or a decision, stands under this id.");
  }
  signal?.throwIfAborted();
  if ((await store.store(action)) === false) throw new Error("The pending action was not stored.");
}

/** A run that is taken up again proposes again. What was asked must not change under whoever is about to decide. */
function isSame(known: PendingAction, action: PendingAction): boolean {
  return !isTerminal(known.status) && sortedText(known.apply_input) === sortedText(action.apply_input);
}
