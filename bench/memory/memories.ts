// What asking a hundred thousand memories costs through the store, beside the bare statement on the same database.
import assert from "node:assert/strict";
import { createMemoryStore } from "../../src/backend/sql/memories.ts";
import { migrate } from "../../src/backend/sql/migrate.ts";
import type { SqlDriver, Statement } from "../../src/backend/sql-driver.ts";
import type { MemoryScope } from "../../src/contracts/memory/memory-scope.ts";
import type { MemoryStore } from "../../src/contracts/memory/memory-store.ts";
import { inFreshDatabase, type Place } from "../durable/place.ts";
import { figure, table, times } from "../markdown.ts";
import { median, medianRatio } from "../median.ts";
import { postgresUrl, postgresVersion } from "../postgres-server.ts";
import type { Section, Size } from "../section.ts";
import { type BareReader, bareReader } from "./bare-reader.ts";
import { fillMemories, scopeOf } from "./fill-memories.ts";

const sizes = {
  full: { memories: 100_000, others: 1_000, rounds: 25 },
  quick: { memories: 5_000, others: 50, rounds: 5 },
} as const;

const WARM_UPS = 8;
const SAMPLE_MILLISECONDS = 10;
const MOST_REPEATS = 100;

const sure = { source_types: ["curated"], min_confidence: 0.9, order_by: "updated_at" };
const trusted = { min_confidence: 0.7, authority_tiers: ["high", "canonical"] };

type Question = {
  readonly says: string;
  readonly ask: (store: MemoryStore, home: MemoryScope, round: number) => Promise<readonly unknown[]>;
};

const questions: readonly Question[] = [
  { says: "list: one source of eight, ranked by time", ask: (store, home) => store.listLayer(home, sure) },
  { says: "list: everything", ask: (store, home) => store.listLayer(home) },
  {
    says: "retrieve: the 20 most trusted, with content",
    ask: (store, home) => store.retrieve(home, { ...trusted, order_by: "confidence" }, { limit: 20 }),
  },
  {
    says: "search: two words, few hold both",
    ask: (store, home, round) => store.search(home, `word${round} word${round + 1} `),
  },
  { says: "search: a rare word", ask: (store, home, round) => store.search(home, `rare${round} `) },
  { says: "search: a rare word, filtered", ask: (store, home, round) => store.search(home, `rare${round} `, trusted) },
  { says: "search: a word that a tenth of all hold", ask: (store, home) => store.search(home, "frequent ") },
  {
    says: "search: the same, filtered and ranked by time",
    ask: (store, home) => store.search(home, "frequent ", { ...trusted, order_by: "updated_at" }),
  },
  {
    says: "search: the beginning of a word",
    ask: (store, home, round) => store.search(home, `rare${(round % 9) + 1}`),
  },
];

type Result = { readonly says: string; readonly found: number; readonly store: number[]; readonly bare: number[] };

export const memories: Section = {
  name: "memory",
  title: "A hundred thousand memories",
  async measure(size) {
    const url = await postgresUrl();
    const { memories: count, others } = sizes[size];
    const places: readonly { says: string; place: Place }[] = [
      { says: "SQLite", place: { database: "sqlite", synchronous: "normal" } },
      { says: "PostgreSQL", place: { database: "postgres", url } },
    ];
    const measured: { says: string; database?: Place["database"]; results: readonly Result[] }[] = [];
    for (const { says, place } of places) {
      const [one, another] = await measureIn(place, size);
      measured.push(
        { says: `${says}, the user with all of them`, database: place.database, results: one },
        { says: `${says}, one of ${others.toLocaleString("en")} others with ten each`, results: another },
      );
    }
    const worst = (database: Place["database"], verb: RegExp) =>
      Math.max(
        ...measured
          .filter((each) => each.database === database)
          .flatMap(({ results }) => results.filter(({ says }) => verb.test(says)).map(ratioOf)),
      );
    const target = (says: string, ...of: Parameters<typeof worst>) => ({
      says: `${figure(count)} memories on ${says}: at most 2 × the bare statement, for every question`,
      limit: { atMost: 2 },
      measured: worst(...of),
    });
    return {
      targets: [
        target("SQLite, lists", "sqlite", /^(list|retrieve)/),
        target("SQLite, search", "sqlite", /^search/),
        target("PostgreSQL, lists", "postgres", /^(list|retrieve)/),
        target("PostgreSQL, search", "postgres", /^search/),
      ],
      tables: measured.map(({ says, results }) =>
        table(
          [says, "found", "store, ms", "bare, ms", "ratio"],
          results.map((result) => [
            result.says,
            result.found.toLocaleString("en"),
            figure(median(result.store)),
            figure(median(result.bare)),
            times(ratioOf(result)),
          ]),
        ),
      ),
      reading,
      versions: { PostgreSQL: await postgresVersion() },
    };
  },
};

function ratioOf({ store, bare }: Result): number {
  return medianRatio(store, bare);
}

type Both = readonly [readonly Result[], readonly Result[]];

async function measureIn(place: Place, size: Size): Promise<Both> {
  const { memories: count, others, rounds } = sizes[size];
  return await inFreshDatabase(place, async (fresh) => {
    const driver = await fresh.backend.open();
    try {
      await migrate(driver);
      await fillMemories(driver, count, others);
      const bare = await bareReader(fresh, place.database === "postgres" ? place.url : undefined);
      try {
        return [
          await askAll(driver, bare, scopeOf(1), rounds),
          await askAll(driver, bare, scopeOf(2 + Math.floor(others / 2)), rounds),
        ];
      } finally {
        await bare.close();
      }
    } finally {
      await driver.close();
    }
  });
}

async function askAll(
  driver: SqlDriver,
  bare: BareReader,
  home: MemoryScope,
  rounds: number,
): Promise<readonly Result[]> {
  const asked: Statement[] = [];
  const store = createMemoryStore(recording(driver, asked));
  const results: Result[] = [];
  for (const { says, ask } of questions) {
    const samples = { store: [] as number[], bare: [] as number[] };
    let found = 0;
    let repeats = 1;
    for (let round = 0; round < WARM_UPS + rounds; round++) {
      asked.splice(0);
      const told = await timed(repeats, () => ask(store, home, round));
      const [statement] = asked;
      assert(statement);
      const read = await timed(repeats, () => bare.read(statement));
      assert.equal(told.result.length, read.result);
      found = read.result;
      // What takes a moment only is asked several times, so that a sample is of one that runs well.
      if (round < WARM_UPS) repeats = Math.ceil(Math.min(MOST_REPEATS, SAMPLE_MILLISECONDS / told.milliseconds));
      else {
        samples.store.push(told.milliseconds);
        samples.bare.push(read.milliseconds);
      }
    }
    results.push({ says, found, ...samples });
  }
  return results;
}

/** Milliseconds for one of so many times. */
async function timed<Result>(times: number, work: () => Promise<Result>) {
  const start = performance.now();
  let result = await work();
  for (let time = 1; time < times; time++) result = await work();
  return { result, milliseconds: (performance.now() - start) / times };
}

/** Tells which statement the store asks, so that it can be asked again without the store. */
function recording(driver: SqlDriver, asked: Statement[]): SqlDriver {
  const noted =
    (read: SqlDriver["all"]): SqlDriver["all"] =>
    (sql, params = []) => {
      asked.push({ sql, params });
      return read(sql, params);
    };
  return { ...driver, all: noted(driver.all), readLong: noted(driver.readLong) };
}

const reading = `Each memory is a text of some forty words with all that is known about it. The bare statement is the one that the store
asks, prepared once and performed by \`node:sqlite\` or the \`pg\` client, which hand out rows; the store hands out entries with
their metadata. On SQLite it searches in a thread of its own, so that the engine goes on meanwhile: there and back takes about a
tenth of a millisecond, which is most of it where the answer is there at once. The targets are about the user with all of the
memories; the tables of the others show that what one user remembers costs another next to nothing, because the index of
words knows whose they are. There, ten entries are read in microseconds, and so a ratio says little.`;
