// Nobody moves a database under the feet of those who work on it.
import { holdfastError } from "../../../contracts/error.ts";
import type { SqlDriver } from "../../sql-driver.ts";
import * as rows from "../rows.ts";

/** Throws `database_in_use` with the names of the processes that run threads. Where only one can be, it is this one. */
export async function refuseWorkers(driver: SqlDriver): Promise<void> {
  if (!driver.isShared) return;
  const known = await driver.all("select id, (now_us() - seen_at) / 1000000 as seconds from workers order by id");
  const alive: string[] = [];
  for (const { id, seconds } of known) {
    const name = rows.text(id);
    const seen = Math.max(0, Math.trunc(rows.number(seconds)));
    if (await driver.isSessionHeld(name)) alive.push(`${name} (heard of ${seen} seconds ago)`);
  }
  if (alive.length === 0) return;
  throw holdfastError("database_in_use", `These run its threads: ${alive.join(", ")}.`);
}
