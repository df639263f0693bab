// Copies the rows of a table from one database to another, and the words that memories are found by.
import type { Row, SqlDriver, Statement } from "../../sql-driver.ts";
import { attemptBatch } from "../attempt-batch.ts";
import * as rows from "../rows.ts";
import { wordsOf } from "../words.ts";
import type { Table } from "./catalogue.ts";
import { type Checksum, summing } from "./checksum.ts";
import { counterOf, setCounter } from "./counters.ts";
import { type Arrival, type Kept, whileArriving } from "./markers.ts";
import { movedRow } from "./moved-row.ts";
import { overtaken } from "./overtaken.ts";
import { pagesOf } from "./pages.ts";

export type Copying = {
  readonly source: SqlDriver;
  readonly target: SqlDriver;
  readonly arrival: Kept<Arrival>;
  /** Told after every page. */
  onPage(rows: number): void;
};

/** The table in both databases: only one of them may count its numbers by itself. */
export type TablePair = { readonly source: Table; readonly target: Table };

/** Gives the checksum of the rows as they were handed over. */
export async function copyTable({ source, target, arrival, onPage }: Copying, pair: TablePair): Promise<Checksum> {
  const sum = summing(pair.source);
  for await (const page of pagesOf(source, pair.source)) {
    const moved = page.map((row) => movedRow(pair.source.name, row));
    for (const row of moved) sum.add(row);
    const words = pair.target.name === "memories" ? moved.map(insertWords) : [];
    await write(target, arrival, [...moved.map((row) => insertRow(target, pair.target, row)), ...words]);
    onPage(page.length);
  }
  if (pair.target.counted !== null) {
    await write(target, arrival, setCounter(target.name, pair.target, await counterOf(source, pair.source)));
  }
  return sum.sum();
}

/** What is really there. */
export async function checksumOf(target: SqlDriver, table: Table, onPage: (rows: number) => void): Promise<Checksum> {
  const sum = summing(table);
  for await (const page of pagesOf(target, table)) {
    for (const row of page) sum.add(row);
    onPage(page.length);
  }
  return sum.sum();
}

/** What got lost on the way back is written again, over what may be there already. */
async function write(target: SqlDriver, arrival: Kept<Arrival>, statements: readonly Statement[]): Promise<void> {
  const { outcome } = await attemptBatch(target, [whileArriving(arrival), ...statements]);
  if (outcome !== "committed") throw overtaken("Somebody else has begun to fill the database.");
}

function insertRow({ name: database }: SqlDriver, { name, columns, counted }: Table, row: Row): Statement {
  const overriding = counted !== null && database === "postgres" ? "overriding system value" : "";
  const values = columns.map((_, index) => `$${index + 1}`).join(", ");
  const sql = `insert into ${name} (${columns.join(", ")}) ${overriding} values (${values}) on conflict do nothing`;
  return { sql, params: columns.map((column) => row[column] ?? null) };
}

function insertWords({ id, scope, filename, content }: Row): Statement {
  const sql = `insert into memory_words (rowid, scope, words)
    select $1, $2, $3 where not exists (select 1 from memory_words where rowid = $1)`;
  return { sql, params: [id ?? null, scope ?? null, wordsOf(rows.text(filename), rows.text(content))] };
}
