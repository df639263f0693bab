// A process that moves a database and stands still before a certain write to the new one, to be killed there.
import { postgres } from "../src/backend/postgres/postgres.ts";
import type { Backend } from "../src/backend/sql-driver.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { moveDatabase } from "../src/database.ts";
import type { Program } from "./another-process.ts";
import { withDriver } from "./changed-driver.ts";
import { type Address, secretKey } from "./databases.ts";

export type Given = { readonly from: Address; readonly to: Address; readonly before: string };

export const run: Program<Given> = async (_open, { from, to, before }) => {
  const halting = withDriver(backendOf(to), ({ batch }) => ({
    async batch(statements) {
      if (!statements.some(({ sql }) => sql.includes(before))) return await batch(statements);
      console.log("there");
      return await new Promise<never>(() => setInterval(() => {}, 1_000));
    },
  }));
  await moveDatabase({ from: backendOf(from), to: halting, secretKey });
};

function backendOf(address: Address): Backend {
  return "path" in address ? sqlite(address.path) : postgres(address.url, { schema: address.schema });
}
