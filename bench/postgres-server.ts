// The PostgreSQL of the benchmark: started when the first section asks for it, stopped at the end.
import { randomBytes } from "node:crypto";
import { query, startPostgres } from "../test/postgres.ts";

let starting: ReturnType<typeof startPostgres> | undefined;

export async function postgresUrl(): Promise<string> {
  starting ??= startPostgres();
  return (await starting).url;
}

export async function stopPostgres(): Promise<void> {
  await (await starting)?.stop();
}

export async function postgresVersion(): Promise<string> {
  const [row] = await query(await postgresUrl(), "show server_version");
  return String(row?.server_version);
}

/** A schema of this name is not there yet, and is gone when the work is done. */
export async function inFreshSchema<Result>(url: string, work: (schema: string) => Promise<Result>): Promise<Result> {
  const schema = `bench_${randomBytes(6).toString("hex")}`;
  try {
    return await work(schema);
  } finally {
    await query(url, `drop schema if exists "${schema}" cascade`);
  }
}
