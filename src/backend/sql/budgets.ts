// Shared budgets in SQL.
import type { BudgetStore, SharedBudget } from "../budget-store.ts";
import type { Row, SqlDriver, Statement } from "../sql-driver.ts";
import type { BudgetChange } from "../thread-commit.ts";
import { attemptBatch } from "./attempt-batch.ts";
import * as rows from "./rows.ts";

const COLUMNS = "name, tokens, nanodollars, used_tokens, used_nanodollars, reserved_tokens, reserved_nanodollars";

export function createBudgetStore(driver: SqlDriver): BudgetStore {
  return {
    async set({ name, tokens, nanodollars }) {
      const sql = `insert into budgets (${COLUMNS}, updated_at) values ($1, $2, $3, 0, 0, 0, 0, now_us())
        on conflict (name) do update
          set tokens = excluded.tokens, nanodollars = excluded.nanodollars, updated_at = now_us()`;
      await attemptBatch(driver, [{ sql, params: [name, tokens, nanodollars] }]);
    },

    async get(name) {
      const [row] = await driver.all(`select ${COLUMNS} from budgets where name = $1`, [name]);
      return row && budget(row);
    },

    async list() {
      return (await driver.all(`select ${COLUMNS} from budgets order by name`)).map(budget);
    },
  };
}

/** Sets aside, counts and gives back in one update; refused when more would be set aside than is left. */
export function changeBudget({ name, used, reserved, reserves }: BudgetChange): Statement {
  const fits = (of: string, more: string, less: string) =>
    `($6 = 0 or ${of} is null or used_${of} + ${more} + reserved_${of} + ${less} <= ${of})`;
  const sql = `update budgets set
      used_tokens = used_tokens + $2, used_nanodollars = used_nanodollars + $3,
      reserved_tokens = reserved_tokens + $4, reserved_nanodollars = reserved_nanodollars + $5, updated_at = now_us()
    where name = $1 and ${fits("tokens", "$2", "$4")} and ${fits("nanodollars", "$3", "$5")}`;
  const amounts = [used.tokens, used.nanodollars, reserved.tokens, reserved.nanodollars];
  // What was used has to be written down in any case, also when the budget is gone by now.
  return { sql, params: [name, ...amounts, reserves ? 1 : 0], ...(reserves && { expect: 1 }) };
}

function budget(row: Row): SharedBudget {
  return {
    name: rows.text(row.name),
    tokens: rows.optionalNumber(row.tokens),
    nanodollars: rows.optionalNumber(row.nanodollars),
    used: { tokens: rows.number(row.used_tokens), nanodollars: rows.number(row.used_nanodollars) },
    reserved: { tokens: rows.number(row.reserved_tokens), nanodollars: rows.number(row.reserved_nanodollars) },
  };
}
