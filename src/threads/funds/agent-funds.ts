// What a run of an agent may spend on models, and what they cost.
import { estimateTokens } from "../../contracts/conversation/token-estimate.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { Funds } from "../../loop/config.ts";
import type { ReadyModel } from "../../models/model-choice.ts";
import type { Agent } from "../agent.ts";
import type { Prompt } from "../definitions/prompt.ts";
import { nanodollars } from "./limits.ts";

type Spending = { readonly agent: Agent; readonly tools: Agent["tools"]; readonly prompt?: Prompt };

/** The limits on what models cost, and their prices; null when there is nothing to count. */
export function fundsOf(cast: Spending, models: readonly ReadyModel[], isShared: boolean): Funds | null {
  const { agent } = cast;
  const { tokens, usd } = agent.limits;
  const hasPrice = models.some(({ price }) => price !== null);
  if (tokens === undefined && usd === undefined && !isShared && !hasPrice) return null;
  const tools = [...cast.tools.values()].map(({ declaration }) => declaration);
  return {
    tokens: tokens ?? null,
    nanodollars: usd === undefined ? null : nanodollars(usd),
    isShared,
    models,
    overhead: estimateTokens(`${systemWords(cast)}${JSON.stringify([tools, agent.output?.schema])}`),
    paysSummaries: !agent.hasOwnSummarizer,
  };
}

/** What a prompt is put together from is not known before it is asked; its own words are most of it. */
function systemWords({ agent, prompt }: Spending): string {
  const parts = prompt?.parts.map((part) => (part.type === "text" ? part.content : "")) ?? [];
  return agent.instructions ?? parts.join("");
}

/** Money can only be counted where prices are known. Throws `model_price_missing`. */
export function checkPrices(models: readonly ReadyModel[], whose: string): void {
  const unpriced = models.find(({ price }) => price === null);
  if (!unpriced) return;
  throw holdfastError("model_price_missing", `${whose} has a limit in dollars, and ${unpriced.name} has no price.`);
}
