// How much a process does at the same time for one tenant, and of one provider. Each process counts for itself: what all
// of them do together is at most the cap times their number.
import { isMap } from "../contracts/json.ts";
import type { ProviderCaps } from "../models/provider-caps.ts";
import { isWholeNumber } from "./whole-number.ts";

export type Caps = {
  /**
   * Threads of one owner, or of one workspace where nobody owns them, that run at the same time in this process. The
   * others of that owner wait, and those of other owners go on. What belongs to nobody is not counted. A tool that waits
   * for another thread of the same owner keeps its own place meanwhile.
   */
  readonly perOwner?: number;
  /** Calls of the models of a provider that this process makes at the same time, such as `{ openai: 8 }`. */
  readonly perProvider?: ProviderCaps;
};

/** What is wrong with them, in words; undefined when nothing is. */
export function capsProblem(caps: Caps): string | undefined {
  const { perOwner, perProvider } = caps;
  if (perOwner !== undefined && !isWholeNumber(perOwner, 1)) return "caps.perOwner must be a whole number from 1";
  if (perProvider === undefined) return undefined;
  if (!isMap(perProvider)) return "caps.perProvider must be a map";
  const wrong = Object.entries(perProvider).find(([, most]) => !isWholeNumber(most, 1));
  return wrong && `caps.perProvider.${wrong[0]} must be a whole number from 1`;
}
