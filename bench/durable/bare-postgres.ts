// The bare database: the `pg` client writes recorded batches, BEGIN to COMMIT, with prepared statements and nothing in
// between.
import { createHash } from "node:crypto";
import { Client, escapeIdentifier } from "pg";
import type { Statement } from "../../src/backend/sql-driver.ts";
import type { WroteBare } from "./bare-sqlite.ts";
import type { Recorded } from "./recording.ts";

type Way =
  /** Each statement waits for the answer to the one before, as most programs do it. */
  | "one by one"
  /** BEGIN, the statements and COMMIT are sent at once, as the client can be told to. */
  | "at once";

type Target = { readonly url: string; readonly schema: string };

/** For the batches that are timed; the tables are there already. */
export async function writeBarePostgres(
  { url, schema }: Target,
  { before, batches }: Recorded,
  way: Way,
): Promise<WroteBare> {
  const client = new Client({ connectionString: url, pipeline: way === "at once" });
  await client.connect();
  try {
    await client.query(`set search_path to ${escapeIdentifier(schema)}`);
    const commit = way === "at once" ? commitAtOnce : commitOneByOne;
    for (const batch of before) await commit(client, batch);
    const processor = process.cpuUsage();
    const start = performance.now();
    for (const batch of batches) await commit(client, batch);
    const { user, system } = process.cpuUsage(processor);
    return { milliseconds: performance.now() - start, processor: user + system };
  } finally {
    await client.end();
  }
}

async function commitOneByOne(client: Client, batch: readonly Statement[]): Promise<void> {
  await client.query("begin");
  for (const statement of batch) await perform(client, statement);
  await client.query("commit");
}

async function commitAtOnce(client: Client, batch: readonly Statement[]): Promise<void> {
  await Promise.all([client.query("begin"), ...batch.map((each) => perform(client, each)), client.query("commit")]);
}

const names = new Map<string, string>();

function perform(client: Client, { sql, params }: Statement): Promise<unknown> {
  let name = names.get(sql);
  if (name === undefined) {
    name = createHash("sha256").update(sql).digest("hex").slice(0, 32);
    names.set(sql, name);
  }
  return client.query({ name, text: sql, values: [...params] });
}
