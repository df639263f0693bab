// Shared budgets as their users see them: in tokens and dollars.
import type { BudgetStore, SharedBudget } from "../../backend/budget-store.ts";
import { holdfastError } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";
import { checkName } from "../check-arguments.ts";
import { limitsProblem, nanodollars } from "./limits.ts";

/** What was used of a ceiling, and what is set aside for calls that are under way; the ceiling is null where there is none. */
export type Drawn = { readonly ceiling: number | null; readonly used: number; readonly reserved: number };

export type Budget = { readonly name: string; readonly tokens: Drawn; readonly usd: Drawn };

export interface Budgets {
  /** Makes a budget for threads to draw on, or gives one that there is other ceilings. What was used of it stays used. */
  set(name: string, ceilings: { readonly tokens?: number; readonly usd?: number }): Promise<void>;
  /** Undefined when there is none of that name. */
  get(name: string): Promise<Budget | undefined>;
  list(): Promise<readonly Budget[]>;
}

export function createBudgets(store: BudgetStore): Budgets {
  return {
    async set(name, ceilings) {
      checkName("name", name);
      if (!isMap(ceilings)) throw holdfastError("invalid_argument", "ceilings must be a map.");
      const { tokens, usd, ...others } = ceilings;
      const [other] = Object.keys(others);
      const wrong =
        other !== undefined ? `limits.${other} is no limit of a shared budget` : limitsProblem(given({ tokens, usd }));
      if (wrong !== undefined) throw holdfastError("invalid_argument", `${wrong.replace(/^limits\./, "")}.`);
      await store.set({ name, tokens: tokens ?? null, nanodollars: usd === undefined ? null : nanodollars(usd) });
    },
    async get(name) {
      checkName("name", name);
      const budget = await store.get(name);
      return budget && shown(budget);
    },
    async list() {
      return (await store.list()).map(shown);
    },
  };
}

function given(ceilings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(ceilings).filter(([, value]) => value !== undefined));
}

function shown({ name, tokens, nanodollars: money, used, reserved }: SharedBudget): Budget {
  return {
    name,
    tokens: { ceiling: tokens, used: used.tokens, reserved: reserved.tokens },
    usd: { ceiling: usd(money), used: usd(used.nanodollars), reserved: usd(reserved.nanodollars) },
  };
}

function usd<Amount extends number | null>(nano: Amount): Amount {
  return (nano === null ? null : nano / 1e9) as Amount;
}
