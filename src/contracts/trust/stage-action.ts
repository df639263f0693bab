// Keeping a proposal where somebody can find and decide it.
import type { Hooks } from "../hooks.ts";
import type { JsonMap } from "../json.ts";
import { isTerminal, type PendingAction } from "./pending-action.ts";
import { isPendingActionStore, type PendingActionStore } from "./pending-action-store.ts";

/** Who keeps pending actions: the store that is passed, else the one that a hook names; there may be none. */
export type ActionKeeper = {
  readonly pendingActions?: PendingActionStore | null | undefined;
  readonly hooks?: Hooks | undefined;
};

/** Stores the action if there is a store for it. Throws when the store refuses it or is none. */
export async function stageAction(
  action: PendingAction,
  { pendingActions, hooks }: ActionKeeper,
  context: JsonMap,
): Promise<void> {
  const store = pendingActions ?? (await hooks?.apply("pendingActionStore", null, context)) ?? null;
  if (store === null) return;
  if (!isPendingActionStore(store)) throw new Error("What should keep pending actions cannot store one.");
  if (await isDecided(action, store)) return;
  if ((await store.store(action)) === false) throw new Error("The pending action was not stored.");
}

/** A run that is taken up again proposes again; a decision that was made meanwhile must not be undone by that. */
async function isDecided({ action_id }: PendingAction, store: PendingActionStore): Promise<boolean> {
  if (typeof store.get !== "function") return false;
  const known = await store.get(action_id, true);
  return known != null && isTerminal(known.status);
}
