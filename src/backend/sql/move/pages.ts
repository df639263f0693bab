// All rows of a table, some at a time, in the order of its key.
import type { Row, Scalar } from "../../sql-driver.ts";
import type { Reader, Table } from "./catalogue.ts";

const MOST_ROWS = 500;
/** A file may have 32 MiB. */
const MOST_ROWS_WITH_BYTES = 2;
/** About how much is held at a time where rows are long. */
const PAGE_CHARACTERS = 4_000_000;

export async function* pagesOf(reader: Reader, table: Table): AsyncGenerator<readonly Row[]> {
  const { name, columns, key, holdsBytes } = table;
  const order = key.join(", ");
  const most = holdsBytes ? MOST_ROWS_WITH_BYTES : MOST_ROWS;
  const select = `select ${columns.join(", ")} from ${name}`;
  const behind = `where (${order}) > (${key.map((_, index) => `$${index + 2}`).join(", ")})`;
  let last: readonly Scalar[] | undefined;
  for (let limit = Math.min(most, 50); ; ) {
    const where = last ? behind : "";
    const page = await reader.all(`${select} ${where} order by ${order} limit $1`, [limit, ...(last ?? [])]);
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    const end = page.at(-1) ?? {};
    last = key.map((column) => end[column] ?? null);
    const characters = page.reduce((sum, row) => sum + lengthOf(row), 0);
    limit = Math.max(1, Math.min(most, Math.floor((PAGE_CHARACTERS * page.length) / Math.max(1, characters))));
  }
}

function lengthOf(row: Row): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 8), 0);
}
