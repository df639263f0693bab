// The funds that a thread shares with others: what it may still set aside, and how each of its commits changes them.
import type { BudgetStore } from "../../backend/budget-store.ts";
import type { BudgetChange } from "../../backend/thread-commit.ts";
import { holdfastError } from "../../contracts/error.ts";
import { type SharedFunds as Left, nothing } from "../../loop/funds.ts";
import type { Amounts } from "../../loop/records.ts";
import type { State } from "../../loop/state.ts";
import type { ReadyModel } from "../../models/model-choice.ts";
import { checkPrices } from "./agent-funds.ts";

type Counted = { readonly spent: Amounts; readonly reserved: Amounts };

const uncounted: Counted = { spent: nothing, reserved: nothing };

/** What one thread has drawn, kept in step with its commits. */
export class SharedFunds {
  readonly #name: string;
  #stored: Counted;

  constructor(name: string, state: State | null) {
    this.#name = name;
    this.#stored = countedIn(state);
  }

  /** A new run counts from nothing; what the one before has spent is spent. */
  startRun(): void {
    this.#stored = uncounted;
  }

  /** What is left for the thread, what it has set aside itself included. */
  async left(budgets: BudgetStore, state: State, models: readonly ReadyModel[]): Promise<Left> {
    const budget = await budgets.get(this.#name);
    if (!budget) throw holdfastError("budget_not_found", `There is no budget "${this.#name}".`);
    const whose = `The budget "${this.#name}"`;
    if (budget.nanodollars !== null) checkPrices(models, whose);
    const now = countedIn(state);
    const free = (dimension: keyof Amounts, ceiling: number | null) => {
      if (ceiling === null) return null;
      const own = this.#stored.reserved[dimension] - (now.spent[dimension] - this.#stored.spent[dimension]);
      return ceiling - budget.used[dimension] - budget.reserved[dimension] + own;
    };
    return { tokens: free("tokens", budget.tokens), nanodollars: free("nanodollars", budget.nanodollars) };
  }

  /** How a commit of this state changes the budget; null when it does not. */
  changeTo(state: State | null): BudgetChange | null {
    const now = countedIn(state);
    const used = difference(now.spent, this.#stored.spent);
    const reserved = difference(now.reserved, this.#stored.reserved);
    if (isNothing(used) && isNothing(reserved)) return null;
    // What was used is used, whatever the ceiling: only what is set aside anew can be refused.
    const reserves = reserved.tokens > 0 || reserved.nanodollars > 0 || (!isNothing(used) && !isNothing(now.reserved));
    return { name: this.#name, used, reserved, reserves };
  }

  committed(state: State | null): void {
    this.#stored = countedIn(state);
  }
}

function countedIn(state: State | null): Counted {
  return state ? { spent: state.spent, reserved: state.reserved ?? nothing } : uncounted;
}

function difference(now: Amounts, before: Amounts): Amounts {
  return { tokens: now.tokens - before.tokens, nanodollars: now.nanodollars - before.nanodollars };
}

function isNothing({ tokens, nanodollars }: Amounts): boolean {
  return tokens === 0 && nanodollars === 0;
}
