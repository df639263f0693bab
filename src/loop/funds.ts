// What calls to models cost. Before a call the most that it can cost is set aside, so that no ceiling is crossed;
// afterwards what it did cost is counted, and of a call that nobody saw the end of, everything that was set aside.
import * as budget from "../contracts/conversation/budget.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { estimateMessage } from "../contracts/conversation/token-estimate.ts";
import { isMap, type UnknownMap } from "../contracts/json.ts";
import { notifyExceeded } from "./announce.ts";
import type { Funds } from "./config.ts";
import type { Amounts } from "./records.ts";
import type { State } from "./state.ts";
import type { Step } from "./step.ts";

/** The longest answer that is asked for when nobody has said and there is a ceiling; thoughts are part of it. */
const USUAL_ANSWER = 16_384;
/** There is no point in asking for an answer shorter than this. */
const SHORTEST_ANSWER = 32;
/** What a summary is taken to be, at most. */
export const SUMMARY = 2_048;

export const nothing: Amounts = Object.freeze({ tokens: 0, nanodollars: 0 });

/** What is left of funds that others use too; null where there is no ceiling. */
export type SharedFunds = { readonly tokens: number | null; readonly nanodollars: number | null };

export type Reservation = {
  readonly reserved: Amounts;
  /** The answer must not be longer; undefined when nothing limits it. */
  readonly maxOutputTokens: number | undefined;
  /** The ceiling because of which it is shorter than it might be. */
  readonly limited: string | undefined;
};

type Shortage = { readonly short: string; readonly used: number; readonly ceiling: number };

/** Sets aside what a call may cost at most, by making its answer as short as it has to be; or says what it lacks. */
export function reserve(step: Step, funds: Funds, shared: SharedFunds | null): Reservation | Shortage {
  const { state, working } = step;
  const model = modelAt(state, funds);
  const prompt = funds.overhead + promptTokens(working.transcript);
  const wanted = model.maxOutputTokens ?? USUAL_ANSWER;
  const limits = ceilings(state, funds, shared);
  let most = wanted;
  let limited: string | undefined;
  for (const { name, left, used, each } of limits) {
    const affordable = Math.floor((left - prompt * each.input) / each.output);
    if (affordable < Math.min(SHORTEST_ANSWER, wanted)) return { short: name, used, ceiling: used + left };
    if (affordable >= most) continue;
    most = affordable;
    limited = name;
  }
  const maxOutputTokens = limits.length > 0 ? most : undefined;
  return { reserved: amounts(prompt, most, model.price), maxOutputTokens, limited };
}

/** Likewise for a summary, whose length nobody can bound; undefined when there is not as much left. */
export function reserveSummary(
  { state }: Step,
  funds: Funds,
  messages: readonly Message[],
  shared: SharedFunds | null,
): Amounts | undefined {
  const prompt = promptTokens(messages);
  const fits = ({ left, each }: Ceiling) => prompt * each.input + SUMMARY * each.output <= left;
  return ceilings(state, funds, shared).every(fits) ? amounts(prompt, SUMMARY, modelAt(state, funds).price) : undefined;
}

/** Ends the run because a call would cost more than is left. */
export function endShort(step: Step, { short, used, ceiling }: Shortage): undefined {
  notifyExceeded(step, budget.create({ name: short, ceiling, current: used }));
  step.record({ type: "budget.set", name: short, used, exceeded: true }, "flow.end");
}

/** What an answer cost by the provider's own count; everything that was set aside when it does not count. */
export function spentOn(state: State, funds: Funds | null, usage: unknown): Amounts | undefined {
  if (!funds || !state.reserved) return undefined;
  if (!isMap(usage)) return state.reserved;
  const prompt = count(usage, "prompt_tokens");
  const completion = count(usage, "completion_tokens");
  const total = Math.max(count(usage, "total_tokens"), prompt + completion);
  if (total === 0) return state.reserved;
  const { price } = modelAt(state, funds);
  // What is not told apart is taken for output, which costs more.
  const output = total - prompt;
  if (!price) return { tokens: total, nanodollars: 0 };
  const cached = Math.min(count(usage, "cached_tokens"), prompt);
  const dollars = (prompt - cached) * price.input + cached * (price.cached ?? price.input) + output * price.output;
  return { tokens: total, nanodollars: nano(dollars) };
}

/** What an attempt cost that came to nothing: a provider that had begun to answer may charge for all of it. */
export function spentInVain({ reserved }: State, hasSpoken: boolean): Amounts | undefined {
  if (!reserved) return undefined;
  return hasSpoken ? reserved : nothing;
}

/** How much each token takes from every ceiling that there is. */
function ceilings(state: State, funds: Funds, shared: SharedFunds | null) {
  const { price } = modelAt(state, funds);
  const tokens = { input: 1, output: 1 };
  // Rounded up for each token, so that no sum is ever larger than what was set aside for it.
  const money = price && { input: nano(price.input), output: Math.max(1, nano(price.output)) };
  const { spent } = state;
  return [
    ...ceiling("tokens", funds.tokens, spent.tokens, tokens),
    ...ceiling("usd", funds.nanodollars, spent.nanodollars, money),
    ...ceiling("shared_tokens", shared?.tokens ?? null, 0, tokens),
    ...ceiling("shared_usd", shared?.nanodollars ?? null, 0, money),
  ];
}

type Ceiling = ReturnType<typeof ceilings>[number];

function ceiling(
  name: string,
  most: number | null,
  used: number,
  each: { readonly input: number; readonly output: number } | null,
) {
  return most === null || !each ? [] : [{ name, left: most - used, used, each }];
}

function modelAt({ postponed }: State, { models }: Funds): Funds["models"][number] {
  // One that took over may be gone after a deploy: then the first is asked.
  return models[postponed?.model ?? 0] ?? models[0] ?? { price: null, maxOutputTokens: null };
}

function promptTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0);
}

function amounts(prompt: number, output: number, price: Funds["models"][number]["price"]): Amounts {
  const nanodollars = price ? prompt * nano(price.input) + output * nano(price.output) : 0;
  return { tokens: prompt + output, nanodollars };
}

/** Dollars per million tokens are a thousand nanodollars a token. */
function nano(dollarsPerMillion: number): number {
  return Math.ceil(dollarsPerMillion * 1_000);
}

/** No answer has more tokens than this: a number that is larger counts nothing. */
const MOST_TOKENS = 100_000_000;

function count(usage: UnknownMap, name: string): number {
  const value = usage[name];
  return typeof value === "number" && value > 0 && value <= MOST_TOKENS ? Math.ceil(value) : 0;
}
