// What can be told of a database by looking at it: whether it is whole, and what is in it.
import { gatewayFaults } from "./gateway/faults.ts";
import { checkFingerprint } from "./key-fingerprint.ts";
import { versionOf } from "./migrate.ts";
import { isCopied, type Reader, rowsIn, tablesOf } from "./move/catalogue.ts";
import { incomplete, moved } from "./move/fence.ts";
import { markersOf } from "./move/markers.ts";
import * as rows from "./rows.ts";
import { runProblems } from "./run-problems.ts";
import { migrations } from "./schema.ts";

export type Checked = {
  /** Of the tables, and the one that this code brings them to. */
  readonly version: number;
  readonly latest: number;
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
  /** Bytes that no file names any more. */
  readonly unnamed: { readonly contents: number; readonly bytes: number };
  /** In words; empty for a database that is whole. */
  readonly problems: readonly string[];
};

/** Each counts what must not be there. */
const FAULTS: Readonly<Record<string, string>> = {
  "files have lost their bytes": `select count(*) as count from files
    where hash <> '' and not exists (select 1 from blobs where blobs.hash = files.hash)`,
  "threads do not end with their last event": `select count(*) as count from threads
    where next_seq > 0 and not exists (
      select 1 from events where thread_id = threads.id and seq = threads.next_seq - 1 and hash = threads.last_hash)`,
  "threads have lost messages": `select count(*) as count from threads
    where next_message <> (select count(*) from messages where thread_id = threads.id)`,
  "memories cannot be found by their words": `select count(*) as count from memories
    where not exists (select 1 from memory_words where memory_words.rowid = memories.id)`,
  ...gatewayFaults,
};

const UNNAMED = `select count(*) as contents, coalesce(sum(size), 0) as bytes from blobs
  where not exists (select 1 from files where files.hash = blobs.hash)`;

/** How many of the things to look at were looked at, and which is next. */
export type OnChecked = (done: number, of: number, what: string) => void;

/** Throws `database_moved` or `database_incomplete` for what is no database any more, or not yet. */
export async function check(
  reader: Reader,
  fingerprint: string | undefined,
  onChecked: OnChecked = () => undefined,
): Promise<Checked> {
  const found = await tablesOf(reader);
  if (!found.some(({ name }) => name === "meta")) {
    const about = { version: 0, latest: migrations.length, tables: [], unnamed: { contents: 0, bytes: 0 } };
    return { ...about, problems: ["There are no tables yet."] };
  }
  const { departure, arrival } = await markersOf(reader);
  if (departure?.state === "moved") throw moved(departure);
  if (arrival) throw incomplete(arrival);
  const version = await versionOf(reader);
  const tables = [];
  const counted = found.filter(isCopied);
  const faults = Object.entries(FAULTS);
  const [pages, all] = [counted.length, counted.length + 2 + faults.length];
  for (const [index, table] of counted.entries()) {
    onChecked(index, all, table.name);
    tables.push({ table: table.name, rows: await rowsIn(reader, table) });
  }
  onChecked(pages, all, "pages");
  const about = { version, latest: migrations.length, tables };
  const none = { contents: 0, bytes: 0 };
  const problems = [...(await pageProblems(reader))];
  if (version !== migrations.length) {
    problems.push(`The tables have version ${version} and not ${migrations.length}.`);
    return { ...about, unnamed: none, problems };
  }
  if (fingerprint !== undefined) {
    await checkFingerprint(reader, fingerprint).catch((thrown: Error) => problems.push(thrown.message));
  }
  for (const [index, [what, sql]] of faults.entries()) {
    onChecked(pages + 1 + index, all, `whether ${what}`);
    const [row] = await reader.all(sql);
    if (rows.number(row?.count) > 0) problems.push(`${rows.number(row?.count)} ${what}.`);
  }
  onChecked(all - 1, all, "the steps of runs");
  problems.push(...(await runProblems(reader)));
  const [row] = await reader.all(UNNAMED);
  return { ...about, unnamed: { contents: rows.number(row?.contents), bytes: rows.number(row?.bytes) }, problems };
}

/** A server looks after its own pages. */
async function pageProblems({ name, all }: Reader): Promise<readonly string[]> {
  if (name === "postgres") return [];
  const found = (await all("pragma integrity_check")).map(({ integrity_check }) => rows.text(integrity_check));
  return found.filter((each) => each !== "ok");
}
