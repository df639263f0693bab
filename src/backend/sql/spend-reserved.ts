// What threads that are about to be deleted have set aside of shared budgets. Nobody will see the end of their calls, so all of
// it counts as used, as it does for a call whose process died.
import type { Amounts } from "../../loop/records.ts";
import type { State } from "../../loop/state.ts";
import type { Row, SqlDriver, Statement } from "../sql-driver.ts";
import { changeBudget } from "./budgets.ts";
import * as rows from "./rows.ts";
import { wholeTree } from "./tree.ts";

/**
 * For the batch that deletes a thread with all that descend from it, while they are still there. It is refused when one of
 * them has moved on since they were read. Nothing where they draw on no budget.
 */
export async function spendReserved(driver: SqlDriver, id: string): Promise<readonly Statement[]> {
  const drawing = await driver.all(
    `select id, budget, next_seq, state from threads where ${drawsOnBudget("$1")} order by budget, id`,
    [id],
  );
  if (drawing.length === 0) return [];
  const spent = new Map<string, Amounts>();
  for (const row of drawing) {
    const { tokens, nanodollars } = reservedIn(row);
    const name = rows.text(row.budget);
    const sum = spent.get(name) ?? { tokens: 0, nanodollars: 0 };
    spent.set(name, { tokens: sum.tokens + tokens, nanodollars: sum.nanodollars + nanodollars });
  }
  return [asRead(id, drawing), ...[...spent].filter(isSomething).map(spend)];
}

function drawsOnBudget(of: string): string {
  return `budget is not null and id in (${wholeTree(of)} /*few rows*/)`;
}

function reservedIn({ state }: Row): Amounts {
  const { reserved } = JSON.parse(rows.optionalText(state ?? null) ?? "{}") as Partial<State>;
  return reserved ?? { tokens: 0, nanodollars: 0 };
}

/** All of them, and no other: what a thread has set aside changes only with its next event. */
function asRead(id: string, drawing: readonly Row[]): Statement {
  const known = drawing.map((_, index) => `$${index + 3}`).join(", ");
  const sql = `select id from threads
    where ${drawsOnBudget("$1")} and id || ' ' || cast(next_seq as text) in (${known})
      and (select count(*) from threads where ${drawsOnBudget("$1")}) = cast($2 as bigint)`;
  const places = drawing.map((row) => `${rows.text(row.id)} ${rows.number(row.next_seq)}`);
  return { sql, params: [id, drawing.length, ...places], expect: drawing.length };
}

function isSomething([, { tokens, nanodollars }]: readonly [string, Amounts]): boolean {
  return tokens > 0 || nanodollars > 0;
}

function spend([name, used]: readonly [string, Amounts]): Statement {
  const reserved = { tokens: -used.tokens, nanodollars: -used.nanodollars };
  return changeBudget({ name, used, reserved, reserves: false });
}
