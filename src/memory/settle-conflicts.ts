// Which of several pieces about the same thing stands: as the contract has it among those who may speak, and what an agent
// wrote only where nobody else does. A model can be talked into anything, and names what it writes itself.
import { type ContextConflict, resolveConflicts } from "../contracts/context/conflict.ts";
import type { Retrieved } from "./retrieved.ts";

export type SettledConflict = Omit<ContextConflict<Retrieved>, "strategy"> & {
  /** `agents_yield`: all that was rejected was an agent's, and the winner is not. */
  readonly strategy: ContextConflict["strategy"] | "agents_yield";
};

/** One answer for each key that something speaks about; nothing may be rejected under it. */
export function settleConflicts(items: readonly Retrieved[]): readonly SettledConflict[] {
  const spokenFor = new Set(items.filter(({ found }) => !found.isOfAgent).map(({ conflict_key }) => conflict_key));
  const mustYield = ({ found, conflict_key }: Retrieved) => found.isOfAgent && spokenFor.has(conflict_key);
  const yielding = Map.groupBy(items.filter(mustYield), ({ conflict_key }) => conflict_key);
  return resolveConflicts(items.filter((item) => !mustYield(item))).map((conflict) =>
    withYielding(conflict, yielding.get(conflict.conflict_key) ?? []),
  );
}

function withYielding(conflict: ContextConflict<Retrieved>, yielding: readonly Retrieved[]): SettledConflict {
  if (yielding.length === 0) return conflict;
  const { conflict_key, winner, rejected, strategy, reason } = conflict;
  const sentence = `What an agent wrote about "${conflict_key}" does not stand against the word of others.`;
  const hasOthers = rejected.length > 0;
  return {
    ...{ conflict_key, winner, rejected: [...rejected, ...yielding] },
    strategy: hasOthers ? strategy : "agents_yield",
    reason: hasOthers ? `${reason} ${sentence}` : sentence,
  };
}
