// Where threads of the benchmark live: a database of their own, made for a sample and gone after it.
import { join } from "node:path";
import type { Clock } from "../../src/backend/clock.ts";
import { postgres } from "../../src/backend/postgres/postgres.ts";
import type { Backend } from "../../src/backend/sql-driver.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { inFreshSchema } from "../postgres-server.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";

export type Place =
  | { readonly database: "sqlite"; readonly synchronous: "full" | "normal" }
  | { readonly database: "postgres"; readonly url: string };

/** The same database, for Holdfast and for whoever looks at it without. */
export type Fresh = { readonly backend: Backend; readonly path: string; readonly schema: string };

export async function inFreshDatabase<Result>(
  place: Place,
  work: (fresh: Fresh) => Promise<Result>,
  { clock }: { readonly clock?: Clock | undefined } = {},
): Promise<Result> {
  if (place.database === "postgres") {
    const { url } = place;
    return await inFreshSchema(url, (schema) => work({ backend: postgres(url, { schema }), path: "", schema }));
  }
  const { synchronous } = place;
  return await inTemporaryFolder((folder) => {
    const path = join(folder, "bench.db");
    return work({ backend: sqlite(path, { synchronous, ...(clock && { clock }) }), path, schema: "" });
  });
}
