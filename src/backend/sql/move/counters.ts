// How far the numbers of a table were counted. A number is never given twice, not even when its row is gone, so it is the
// counter that has to be moved and not the highest number that is left.
import type { Statement } from "../../sql-driver.ts";
import * as rows from "../rows.ts";
import type { Reader, Table } from "./catalogue.ts";

/** 0 where nothing was counted yet. Where the database does not count by itself, the highest number there is. */
export async function counterOf(reader: Reader, { name, counted, key }: Table): Promise<number> {
  const { sql, params } = counterQuestion(reader.name, name, counted, key[0] ?? "");
  const [row] = await reader.all(sql, params);
  return row?.value == null ? 0 : rows.number(row.value);
}

function counterQuestion(database: Reader["name"], table: string, counted: string | null, key: string): Statement {
  if (counted === null) return { sql: `select max(${key}) as value from ${table}`, params: [] };
  if (database === "sqlite") {
    return { sql: "select seq as value from sqlite_sequence where name = $1", params: [table] };
  }
  const sql = "select pg_sequence_last_value(cast(pg_get_serial_sequence($1, $2) as regclass)) as value";
  return { sql, params: [table, counted] };
}

/** Nothing where the database does not count by itself. */
export function setCounter(database: Reader["name"], { name, counted }: Table, value: number): readonly Statement[] {
  if (counted === null) return [];
  if (database === "sqlite") {
    return [
      { sql: "delete from sqlite_sequence where name = $1", params: [name] },
      { sql: "insert into sqlite_sequence (name, seq) values ($1, $2)", params: [name, value] },
    ];
  }
  const sql = `select setval(cast(pg_get_serial_sequence($1, $2) as regclass), greatest(cast($3 as bigint), 1),
    cast($3 as bigint) > 0)`;
  return [{ sql, params: [name, counted, value] }];
}
