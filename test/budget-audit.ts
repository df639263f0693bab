// An audit of what was spent: every version that a budget ever had, and every attempt to ask a model, from what is stored.
import type { Backend } from "../src/backend/sql-driver.ts";
import type { Stores } from "../src/backend/stores.ts";
import { nothing } from "../src/loop/funds.ts";
import { unpackRecords } from "../src/loop/packed-records.ts";
import type { Amounts, LogRecord } from "../src/loop/records.ts";
import { fold, type State } from "../src/loop/state.ts";
import type { World } from "./databases.ts";

/** A budget as a commit left it. */
export type Version = { readonly used: Amounts; readonly reserved: Amounts; readonly ceiling: Amounts };

const COLUMNS = "tokens, nanodollars, used_tokens, used_nanodollars, reserved_tokens, reserved_nanodollars";
const NEW = COLUMNS.split(", ")
  .map((column) => `new.${column}`)
  .join(", ");

/** Has the database itself keep every version of every budget from now on. */
export async function watchBudgets(world: World, database: Backend["name"]): Promise<void> {
  const id = database === "sqlite" ? "integer primary key autoincrement" : "bigserial primary key";
  const columns = COLUMNS.split(", ").map((column) => `${column} bigint`);
  await world.sql(`create table budget_versions (id ${id}, name text, ${columns.join(", ")})`);
  const keep = `insert into budget_versions (name, ${COLUMNS}) values (new.name, ${NEW})`;
  if (database === "sqlite") {
    await world.sql(`create trigger keep_versions after update on budgets begin ${keep}; end`);
    return;
  }
  await world.sql(`create function keep_version() returns trigger language plpgsql set search_path from current
    as $$ begin ${keep}; return null; end $$`);
  await world.sql("create trigger keep_versions after update on budgets for each row execute function keep_version()");
}

export async function versionsOf(world: World, name: string): Promise<readonly Version[]> {
  const rows = await world.sql(`select ${COLUMNS} from budget_versions where name = '${name}' order by id`);
  return rows.map((row) => {
    const at = (column: string) => (row[column] === null ? Number.POSITIVE_INFINITY : Number(row[column]));
    return {
      used: { tokens: at("used_tokens"), nanodollars: at("used_nanodollars") },
      reserved: { tokens: at("reserved_tokens"), nanodollars: at("reserved_nanodollars") },
      ceiling: { tokens: at("tokens"), nanodollars: at("nanodollars") },
    };
  });
}

/** An attempt to ask a model: what was set aside for it, what it came to, and what was counted for it. */
export type Attempt = { readonly reserved: Amounts; readonly end: string | null; readonly spent: Amounts };

export type RunAccount = { readonly run: number; readonly state: State; readonly attempts: readonly Attempt[] };

/** What every run of a thread has spent. */
export async function accountsOf({ threads }: Stores, threadId: string): Promise<readonly RunAccount[]> {
  const runs = await threads.runs(threadId);
  return await Promise.all(
    runs.map(async ({ run }) => {
      const events = await threads.eventsOfRun(threadId, run);
      const records = events.flatMap((event) => unpackRecords(event.records));
      return { run, state: fold(records), attempts: attemptsIn(records) };
    }),
  );
}

/** The same once more, by other means than the machine's. */
function attemptsIn(records: readonly LogRecord[]): readonly Attempt[] {
  const attempts: Attempt[] = [];
  let reserved: Amounts | undefined;
  for (const { fact } of records) {
    if (fact.type === "begun" && fact.reserved) reserved = fact.reserved;
    else if (reserved && (fact.type === "attempt.lost" || fact.type === "effect.released" || "spent" in fact)) {
      const lost = fact.type === "attempt.lost" ? reserved : nothing;
      attempts.push({ reserved, end: fact.type, spent: "spent" in fact ? (fact.spent ?? nothing) : lost });
      reserved = undefined;
    }
  }
  return reserved ? [...attempts, { reserved, end: null, spent: nothing }] : attempts;
}

export function sum(amounts: readonly Amounts[]): Amounts {
  return amounts.reduce(
    (total, { tokens, nanodollars }) => ({
      tokens: total.tokens + tokens,
      nanodollars: total.nanodollars + nanodollars,
    }),
    nothing,
  );
}
