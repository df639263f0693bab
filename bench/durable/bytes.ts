// What a turn leaves in the database, beside the messages that were to be kept, and where the rest of it is.
import { DatabaseSync } from "node:sqlite";
import { figure, table, times } from "../markdown.ts";
import type { Section, Size } from "../section.ts";
import { inFreshDatabase } from "./place.ts";
import { runThread } from "./run-thread.ts";

type Stored = {
  readonly turns: number;
  /** Of the file, a turn. */
  readonly bytes: number;
  /** UTF-8 of the envelopes, a turn. */
  readonly envelopes: number;
  /** A turn, the largest first. */
  readonly places: readonly { readonly name: string; readonly bytes: number }[];
  readonly columns: readonly { readonly name: string; readonly bytes: number }[];
};

/** What the tool answers with, beside the null turn: as much as a page of a document, and as a long one. */
const results = [
  { says: "a tool that answers {done: true}", result: { done: true } },
  { says: "a tool that answers with 1 KB", result: { text: "x".repeat(1_000) } },
  { says: "a tool that answers with 4 KB", result: { text: "x".repeat(4_000) } },
];

export const bytes: Section = {
  name: "bytes",
  title: "What a turn leaves in the database",
  async measure(size: Size) {
    const [short, long] = size === "quick" ? [200, 1_000] : [1_000, 10_000];
    const shortOne = await stored(short, results[0]?.result);
    const longOne = await stored(long, results[0]?.result);
    const others = [];
    for (const { says, result } of results.slice(1)) others.push({ says, ...(await stored(short, result)) });
    const rows = [
      { says: `${results[0]?.says}, ${short.toLocaleString("en")} turns`, ...shortOne },
      { says: `${results[0]?.says}, ${long.toLocaleString("en")} turns`, ...longOne },
      ...others.map((each) => ({ ...each, says: `${each.says}, ${short.toLocaleString("en")} turns` })),
    ];
    return {
      targets: [
        {
          says: `Bytes per turn stay flat: a thread of ${long.toLocaleString("en")} turns at most 1.05 × those of ${short.toLocaleString("en")}`,
          limit: { atMost: 1.05 },
          measured: longOne.bytes / shortOne.bytes,
        },
        {
          says: "Bytes per turn at most 2 × the UTF-8 bytes of the envelopes written, null turns",
          limit: { atMost: 2 },
          measured: longOne.bytes / longOne.envelopes,
        },
      ],
      tables: [
        table(
          ["Bytes a turn", "in the file", "envelopes", "ratio"],
          rows.map(({ says, bytes, envelopes }) => [says, figure(bytes), figure(envelopes), times(bytes / envelopes)]),
        ),
        whereabouts(longOne),
      ],
      reading,
    };
  },
};

async function stored(turns: number, result: unknown): Promise<Stored> {
  return await inFreshDatabase({ database: "sqlite", synchronous: "normal" }, async ({ backend, path }) => {
    await runThread(backend, turns, { result });
    const database = new DatabaseSync(path);
    try {
      return look(database, turns);
    } finally {
      database.close();
    }
  });
}

function look(database: DatabaseSync, turns: number): Stored {
  const all = (sql: string) => database.prepare(sql).all() as Record<string, number | string>[];
  const perTurn = (row: Record<string, number | string> | undefined) => Number(row?.bytes) / turns;
  const places = all("select name, sum(pgsize) as bytes from dbstat group by name order by bytes desc");
  const tables = ["messages", "events", "calls"];
  const columns = tables.flatMap((name) =>
    all(`select name from pragma_table_info('${name}')`).map((column) => ({
      name: `${name}.${column.name}`,
      bytes: perTurn(all(`select sum(length(cast(${column.name} as blob))) as bytes from ${name}`)[0]),
    })),
  );
  return {
    turns,
    bytes: perTurn(all("select page_count * page_size as bytes from pragma_page_count, pragma_page_size")[0]),
    envelopes: perTurn(all("select sum(length(cast(envelope as blob))) as bytes from messages")[0]),
    places: places.map((row) => ({ name: String(row.name), bytes: perTurn(row) })),
    columns: columns.toSorted((one, other) => other.bytes - one.bytes),
  };
}

/** The largest tables and indexes beside the largest columns. */
function whereabouts({ places, columns }: Stored): string {
  const name = (each: { name: string; bytes: number } | undefined) => (each ? `\`${each.name}\`` : "");
  const size = (each: { name: string; bytes: number } | undefined) => (each ? figure(each.bytes) : "");
  return table(
    ["Table or index of a null turn", "bytes in pages", "column", "bytes of text"],
    Array.from({ length: 10 }, (_, index) => {
      const [place, column] = [places[index], columns[index]];
      return [name(place), size(place), name(column), size(column)];
    }),
  );
}

const reading = `The size of the SQLite file after one thread, divided by its turns. **Envelopes** are the messages themselves, as
JSON in UTF-8: for each turn a tool call and its result. Beside them the database holds the records from which the state can be
found again, the audit of each call, hashes and salts that chain them, and the ledger that keeps a call from running twice; all
of that is as large for a null turn as for any other. A length of a column is that of its text: numbers take less.`;
