// What a run of an agent may spend on models, and what they cost.
import { estimateTokens } from "../contracts/conversation/token-estimate.ts";
import { holdfastError } from "../contracts/error.ts";
import type { Funds } from "../loop/working.ts";
import type { ReadyModel } from "../models/model-choice.ts";
import type { Agent } from "./agent.ts";
import { nanodollars } from "./limits.ts";

/** The limits on what models cost, and their prices; null when there is nothing to count. */
export function fundsOf(agent: Agent, models: readonly ReadyModel[], isShared: boolean): Funds | null {
  const { tokens, usd } = agent.limits;
  const hasPrice = models.some(({ price }) => price !== null);
  if (tokens === undefined && usd === undefined && !isShared && !hasPrice) return null;
  const tools = [...agent.tools.values()].map(({ declaration }) => declaration);
  return {
    tokens: tokens ?? null,
    nanodollars: usd === undefined ? null : nanodollars(usd),
    isShared,
    models,
    overhead: estimateTokens(`${agent.instructions ?? ""}${JSON.stringify([tools, agent.output?.schema])}`),
    paysSummaries: !agent.hasOwnSummarizer,
  };
}

/** Money can only be counted where prices are known. Throws `model_price_missing`. */
export function checkPrices(models: readonly ReadyModel[], whose: string): void {
  const unpriced = models.find(({ price }) => price === null);
  if (!unpriced) return;
  throw holdfastError("model_price_missing", `${whose} has a limit in dollars, and ${unpriced.name} has no price.`);
}
