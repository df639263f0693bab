// Funds that several threads draw on. A call to a model sets aside what it may cost in the commit that begins it, and
// counts what it did cost in the commit that ends it, so that no two of them can spend the same money.
import type { Amounts } from "../loop/records.ts";

export type SharedBudget = {
  readonly name: string;
  /** The most that may be used; null where there is no ceiling. */
  readonly tokens: number | null;
  readonly nanodollars: number | null;
  readonly used: Amounts;
  /** For calls that are under way, or whose end nobody has seen yet. */
  readonly reserved: Amounts;
};

export interface BudgetStore {
  /** Makes a budget, or gives one that there is other ceilings; what was used of it stays used. */
  set(budget: Pick<SharedBudget, "name" | "tokens" | "nanodollars">): Promise<void>;
  get(name: string): Promise<SharedBudget | undefined>;
  /** By name. */
  list(): Promise<readonly SharedBudget[]>;
}
