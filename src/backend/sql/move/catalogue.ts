// The tables of a database as it says itself, so that a table that is added one day is moved without anybody's doing.
import type { Row, SqlDriver } from "../../sql-driver.ts";
import * as rows from "../rows.ts";

export type Table = {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns that tell its rows apart, in the order of the index. */
  readonly key: readonly string[];
  /** The column that the database counts by itself and never gives out twice. */
  readonly counted: string | null;
  readonly holdsBytes: boolean;
};

/** What a look at a database needs; it need not be able to write. */
export type Reader = Pick<SqlDriver, "name" | "all">;

/** The words are made anew of the memories, nobody is at work in a database that was just filled, and it is its own. */
export const notCopied: ReadonlySet<string> = new Set(["memory_words", "workers", "meta"]);

const COLUMNS = {
  sqlite: `select tables.name as table_name, columns.name as column_name, nullif(columns.pk, 0) as key_place,
      lower(columns.type) = 'blob' as is_bytes, columns.pk = 1 and lower(made.sql) like '%autoincrement%' as is_counted
    from pragma_table_list as tables join pragma_table_info(tables.name) as columns
      join sqlite_master as made on made.type = 'table' and made.name = tables.name
    where tables.schema = 'main' and tables.type = 'table' and tables.name not like 'sqlite%'
    order by tables.name, columns.cid`,
  postgres: `select relname as table_name, attname as column_name,
      array_position(cast(indkey as int2[]), attnum) as key_place,
      pg_type.typname in ('bytea', 'blob') as is_bytes, attidentity <> '' as is_counted
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
      join pg_type on pg_type.oid = atttypid
      left join pg_index on indrelid = pg_class.oid and indisprimary
    where nspname = current_schema() and relkind = 'r'
    order by relname, attnum`,
} as const;

/** Every table there is, with those that are not copied. */
export async function tablesOf(reader: Reader): Promise<readonly Table[]> {
  const found = await reader.all(COLUMNS[reader.name]);
  const byTable = Map.groupBy(found, ({ table_name }) => rows.text(table_name));
  return Array.from(byTable, ([name, columns]) => ({
    name,
    columns: columns.map(nameOf).toSorted(),
    key: columns
      .filter(({ key_place }) => key_place !== null)
      .toSorted((one, other) => rows.number(one.key_place) - rows.number(other.key_place))
      .map(nameOf),
    counted: columns.filter(({ is_counted }) => is_counted === 1).map(nameOf)[0] ?? null,
    holdsBytes: columns.some(({ is_bytes }) => is_bytes === 1),
  })).toSorted(byName);
}

/** The order of bytes, which is the same whatever database was asked. */
function byName(one: Table, other: Table): number {
  return one.name < other.name ? -1 : 1;
}

export async function copiedTables(reader: Reader): Promise<readonly Table[]> {
  return (await tablesOf(reader)).filter(isCopied);
}

export function isCopied({ name }: Table): boolean {
  return !notCopied.has(name);
}

export async function rowsIn(reader: Reader, { name }: Table): Promise<number> {
  const [row] = await reader.all(`select count(*) as rows from ${name}`);
  return rows.number(row?.rows);
}

function nameOf({ column_name }: Row): string {
  return rows.text(column_name);
}
