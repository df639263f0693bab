// A lock of PostgreSQL that a test holds, so that statements wait for the test and not for a time.
import { Client } from "pg";

/** Statements with `wait` in them wait until it is released. */
export async function holdLock(url: string, name: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select hashtext($1) as key", [name]);
  const { key } = rows[0];
  await client.query("select pg_advisory_lock($1)", [key]);
  const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted and objid = $1::integer::oid";
  return {
    wait: `pg_advisory_xact_lock_shared(${key})`,
    async untilWaiting(count: number) {
      while ((await client.query(waiting, [key])).rowCount !== count);
    },
    release: () => client.end(),
  };
}
