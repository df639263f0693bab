// Finds as many memories as are wanted, where some of what a store finds may not be used.
import type { FoundMemory } from "../contracts/memory/memory-store.ts";

/** So many times what is wanted is looked through, and no more. */
const MOST_TIMES = 64;

/** Asks for more as long as what is not wanted has taken the room of what is. */
export async function fillUp(
  limit: number,
  ask: (limit: number) => Promise<readonly FoundMemory[]>,
  isWanted: (found: FoundMemory) => boolean,
): Promise<readonly FoundMemory[]> {
  for (let asked = limit; ; asked *= 4) {
    const found = await ask(asked);
    const wanted = found.filter(isWanted);
    if (wanted.length >= limit || found.length < asked || asked >= limit * MOST_TIMES) return wanted.slice(0, limit);
  }
}
