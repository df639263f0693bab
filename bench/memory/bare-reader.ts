// The bare database: performs one statement, prepared once, with `node:sqlite` or the `pg` client and nothing in between.
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { Client, escapeIdentifier } from "pg";
import type { Statement } from "../../src/backend/sql-driver.ts";
import type { Fresh } from "../durable/place.ts";

export type BareReader = {
  /** How many rows it found. */
  read(statement: Statement): Promise<number>;
  close(): Promise<void>;
};

export async function bareReader({ path, schema }: Fresh, url: string | undefined): Promise<BareReader> {
  return url === undefined ? bareSqlite(path) : await barePostgres(url, schema);
}

function bareSqlite(path: string): BareReader {
  const database = new DatabaseSync(path);
  const prepared = new Map<string, (params: Statement["params"]) => number>();
  const prepare = (sql: string) => {
    const statement = database.prepare(sql.replace(/\$(\d+)/g, "?$1"));
    const read = (params: Statement["params"]) => statement.all(...params).length;
    prepared.set(sql, read);
    return read;
  };
  return {
    read: async ({ sql, params }) => (prepared.get(sql) ?? prepare(sql))(params),
    close: async () => database.close(),
  };
}

async function barePostgres(url: string, schema: string): Promise<BareReader> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`set search_path to ${escapeIdentifier(schema)}`);
  return {
    async read({ sql, params }) {
      const name = createHash("sha256").update(sql).digest("hex").slice(0, 32);
      return (await client.query({ name, text: sql, values: [...params] })).rows.length;
    },
    close: () => client.end(),
  };
}
