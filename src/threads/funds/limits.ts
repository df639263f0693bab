// What a run of an agent may use up at most. Each limit stops the run before it is crossed.
import { isMap } from "../../contracts/json.ts";
import type { BudgetInput } from "../../loop/options.ts";
import { isWholeNumber } from "../whole-number.ts";

export type Limits = {
  /** Answers of the model; a round of queued tools counts as one. */
  readonly steps?: number;
  readonly toolCalls?: number;
  /** Calls of single tools, by name. */
  readonly perTool?: Readonly<Record<string, number>>;
  /** Of all answers together, what the model is shown included. */
  readonly tokens?: number;
  /** What all answers may cost together; every model of the agent needs a price. */
  readonly usd?: number;
  /** At work; the time for which the run waits for somebody does not count. */
  readonly seconds?: number;
};

/** What of the limits is wrong, in words; undefined when nothing is. */
export function limitsProblem(given: unknown): string | undefined {
  if (!isMap(given)) return "limits must be a map";
  for (const [name, value] of Object.entries(given)) {
    if (!names.has(name)) return `limits.${name} is no limit; there are ${[...names].join(", ")}`;
    if (name === "usd" ? !isDollars(value) : name === "perTool" ? !isCounts(value) : !isWholeNumber(value, 1)) {
      return `limits.${name} must be ${kinds[name] ?? "a whole number from 1"}`;
    }
  }
  return undefined;
}

const names: ReadonlySet<string> = new Set(["steps", "toolCalls", "perTool", "tokens", "usd", "seconds"]);

const kinds: Readonly<Record<string, string>> = {
  usd: "a number of US dollars above 0, 9 million at most",
  perTool: "a map from names of tools to whole numbers from 1",
};

/** Counted in billionths, more dollars would be more than a number can count to. */
const MOST_USD = 9_000_000;

function isDollars(value: unknown): boolean {
  return typeof value === "number" && value > 0 && value <= MOST_USD;
}

function isCounts(value: unknown): boolean {
  return isMap(value) && Object.values(value).every((count) => isWholeNumber(count, 1));
}

/** The limits that count how often something happens, as the loop knows them. */
export function countingBudgets({ steps, toolCalls, perTool = {}, seconds }: Limits): readonly BudgetInput[] {
  return [
    ...named("turns", steps),
    ...named("tool_calls", toolCalls),
    ...Object.entries(perTool).flatMap(([name, ceiling]) => named(`tool_calls_${name}`, ceiling)),
    ...named("wall_clock_seconds", seconds),
  ];
}

function named(name: string, ceiling: number | undefined): BudgetInput[] {
  return ceiling === undefined ? [] : [{ name, ceiling }];
}

export function nanodollars(usd: number): number {
  return Math.round(usd * 1e9);
}
