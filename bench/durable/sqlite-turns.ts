// What a turn of a durable thread costs on SQLite, beside the bare database, and whether it stays so in long threads.
import { DatabaseSync } from "node:sqlite";
import { figure, table, times } from "../markdown.ts";
import { medianRatio } from "../median.ts";
import type { Section, Size } from "../section.ts";
import { PAUSE_MICROSECONDS } from "./bare-sqlite.ts";
import { type Compared, type Contestants, compare, withContestants } from "./compare.ts";
import type { Answer } from "./contestant.ts";

/** How many rounds at which length. */
const rounds: Readonly<Record<Size, Readonly<Record<number, number>>>> = {
  full: { 100: 15, 1000: 9, 10000: 5 },
  quick: { 100: 3, 500: 2 },
};
/** The length at which the targets are looked at. */
const judgedAt: Readonly<Record<Size, number>> = { full: 1000, quick: 500 };
const ways = ["one by one", "after a pause"] as const;

const modes = ["full", "normal"] as const;
type Mode = (typeof modes)[number];

export const sqliteTurns: Section = {
  name: "sqlite",
  title: "A turn of a durable thread on SQLite",
  async measure(size) {
    return await withContestants(async (contestants) => {
      const byMode = {
        full: await measureMode(contestants, "full", size),
        normal: await measureMode(contestants, "normal", size),
      };
      const compacted = await measureCompacted(contestants, size);
      return {
        targets: [
          {
            says: "SQLite that waits for the disk (FULL): a turn at most 1.3 × the bare commits of its rows, at 1,000 turns",
            limit: { atMost: 1.3 },
            measured: ratioAt(byMode.full, judgedAt[size]),
          },
          {
            says: "SQLite that leaves it to the operating system (NORMAL): at most 2.5 × the bare commits, at 1,000 turns",
            limit: { atMost: 2.5 },
            measured: ratioAt(byMode.normal, judgedAt[size]),
          },
          {
            says: `${span(byMode.full)} at most 1.2 × as long as turns 100–200, FULL`,
            limit: { atMost: 1.2 },
            measured: byMode.full.at(-1)?.growth,
          },
        ],
        tables: [
          costs(byMode),
          lateTurns([
            ["FULL", byMode.full.at(-1)],
            ["NORMAL", byMode.normal.at(-1)],
            ["NORMAL, compacted at 80 messages", compacted],
          ]),
        ],
        reading,
        versions: { SQLite: sqliteVersion() },
      };
    });
  },
};

async function measureMode(contestants: Contestants, synchronous: Mode, size: Size): Promise<Compared[]> {
  const compared = [];
  for (const [turns, count] of Object.entries(rounds[size])) {
    const place = { database: "sqlite", synchronous } as const;
    compared.push(await compare(contestants, { place, turns: Number(turns), rounds: count, ways }));
  }
  return compared;
}

type Late = Pick<Compared, "turns" | "early" | "late" | "growth">;

async function measureCompacted({ holdfast }: Contestants, size: Size): Promise<Late> {
  const turns = Math.max(...Object.keys(rounds[size]).map(Number));
  const answer: Answer = await holdfast.ask({
    place: { database: "sqlite", synchronous: "normal" },
    turns,
    isCompacted: true,
  });
  return { ...answer, turns, growth: medianRatio([answer.late], [answer.early]) };
}

function ratioAt(compared: readonly Compared[], turns: number): number | undefined {
  return compared.find((each) => each.turns === turns)?.bare["one by one"]?.ratio;
}

function span(compared: readonly Compared[]): string {
  const last = compared.at(-1)?.turns ?? 0;
  return `Turns ${(last - 100).toLocaleString("en")}–${last.toLocaleString("en")}`;
}

function costs(byMode: Readonly<Record<Mode, readonly Compared[]>>): string {
  return table(
    ["Microseconds a turn", "turns", "Holdfast", "bare node:sqlite", "ratio", "bare, after pauses", "ratio"],
    modes.flatMap((mode) =>
      byMode[mode].map(({ turns, holdfast, bare }) => [
        `synchronous=${mode.toUpperCase()}`,
        turns.toLocaleString("en"),
        figure(holdfast),
        ...ways.flatMap((way) => [
          figure(bare[way]?.microseconds ?? Number.NaN),
          times(bare[way]?.ratio ?? Number.NaN),
        ]),
      ]),
    ),
  );
}

function lateTurns(rows: readonly (readonly [string, Late | undefined])[]): string {
  return table(
    ["Microseconds a turn of one long thread", "turns 100–200", "the last hundred", "of turns", "ratio"],
    rows.map(([name, late]) => [
      name,
      figure(late?.early ?? Number.NaN),
      figure(late?.late ?? Number.NaN),
      (late?.turns ?? 0).toLocaleString("en"),
      times(late?.growth ?? Number.NaN),
    ]),
  );
}

function sqliteVersion(): string {
  const database = new DatabaseSync(":memory:");
  const row = database.prepare("select sqlite_version() as version").get();
  database.close();
  return String(row?.version);
}

const reading = `A **turn** is one answer of the model that calls one tool, and the tool's result: two commits, with everything that a
crash at any instruction must find. Model and tool answer at once. The **bare database** then writes exactly the statements
that Holdfast wrote, in as many transactions, with prepared statements and nothing in between. Each has a process of its own,
which has run thousands of turns before; thread and replay take turns, the ratio is taken round by round, and the median
counts.

**After pauses**, the bare database waits ${PAUSE_MICROSECONDS} microseconds before each commit, in which the processor is busy with something
else, and which are not counted. On most disks such a commit takes longer than one that follows another at once: caches are
cold, and so is the disk. No program that computes anything between its commits escapes that; the target leaves it out. What
Holdfast adds is work of the processor, as much on a fast disk as on a slow one: the faster the disk, the larger the ratio.

Of a hundred turns of a long thread, too, the median counts: a disk that is busy for a moment is no growth.
Without compaction the model is shown everything that was ever said, and a copy of that list is what a late turn costs more;
the row with compaction is the thread as one would run it.`;
