// Where a text stands in a database, whichever table and column it is: for what must be nowhere.
import { DatabaseSync } from "node:sqlite";
import { query } from "../postgres.ts";
import type { Database } from "./database.ts";

/** The names of the tables, in the order of the alphabet. */
export async function tablesWith(database: Database, text: string): Promise<readonly string[]> {
  return database.kind === "sqlite" ? inFile(database.path, text) : await inSchema(database, text);
}

function inFile(path: string, text: string): readonly string[] {
  const file = new DatabaseSync(path, { readOnly: true });
  const rowsOf = (sql: string) => {
    const statement = file.prepare(sql);
    // An index of words numbers its parts higher than a number can be.
    statement.setReadBigInts(true);
    return statement.all();
  };
  try {
    const names = rowsOf("select name from sqlite_master where type = 'table' order by name");
    return names
      .map(({ name }) => String(name))
      .filter((name) => rowsOf(`select * from "${name}"`).some((row) => holds(row, text)));
  } finally {
    file.close();
  }
}

function holds(row: Record<string, unknown>, text: string): boolean {
  const readable = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : String(value));
  return Object.values(row).some((value) => readable(value).includes(text));
}

/** Many cases share the schema, so that it is the database that looks. A row of it is a text by itself. */
async function inSchema({ url, schema }: Extract<Database, { kind: "postgres" }>, text: string) {
  const tables = await query(url, "select table_name as name from information_schema.tables where table_schema = $1", [
    schema,
  ]);
  const looks = tables.map(({ name }) => {
    const rows = `select 1 from ${schema}."${name}" as line where position($1 in cast(line as text)) > 0`;
    return `select '${name}' as name where exists (${rows})`;
  });
  return (await query(url, looks.join(" union all "), [text])).map(({ name }) => String(name)).sort();
}
