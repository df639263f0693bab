// What a turn of a durable thread costs on PostgreSQL, beside the bare client, and how often the two have to wait for each
// other.
import client from "pg/package.json" with { type: "json" };
import { figure, table, times } from "../markdown.ts";
import { postgresUrl, postgresVersion } from "../postgres-server.ts";
import type { Section, Size } from "../section.ts";
import { type Compared, compare, withContestants } from "./compare.ts";
import { countRoundTrips, type RoundTrips } from "./round-trips.ts";

const rounds: Readonly<Record<Size, Readonly<Record<number, number>>>> = {
  full: { 100: 9, 1000: 5, 10000: 1 },
  quick: { 100: 2, 300: 1 },
};
/** The length at which the target is looked at. */
const judgedAt: Readonly<Record<Size, number>> = { full: 1000, quick: 300 };
const ways = ["one by one", "at once"] as const;

export const postgresTurns: Section = {
  name: "postgres",
  title: "A turn of a durable thread on PostgreSQL",
  async measure(size) {
    const url = await postgresUrl();
    const compared = await withContestants(async (contestants) => {
      const all: Compared[] = [];
      for (const [turns, count] of Object.entries(rounds[size])) {
        const place = { database: "postgres", url } as const;
        all.push(await compare(contestants, { place, turns: Number(turns), rounds: count, ways }));
      }
      return all;
    });
    const roundTrips = await countRoundTrips(url, size === "quick" ? 50 : 500);
    const judged = compared.find(({ turns }) => turns === judgedAt[size]);
    return {
      targets: [
        {
          says: "PostgreSQL: a turn at most 2 × the bare commits of its rows, each sent at once, at 1,000 turns",
          limit: { atMost: 2 },
          measured: judged?.bare["at once"]?.ratio,
        },
        {
          says: "PostgreSQL: at most 2 round trips a commit",
          limit: { atMost: 2 },
          measured: roundTrips.aCommit,
          unit: "",
        },
      ],
      tables: [costs(compared), sentence(roundTrips)],
      reading,
      versions: { PostgreSQL: await postgresVersion(), pg: client.version },
    };
  },
};

function costs(compared: readonly Compared[]): string {
  return table(
    [
      "Microseconds a turn",
      "Holdfast",
      "bare pg, at once",
      "ratio",
      "bare pg, one by one",
      "ratio",
      "the last hundred / 100–200",
    ],
    compared.map(({ turns, holdfast, bare, growth }) => [
      `${turns.toLocaleString("en")} turns`,
      figure(holdfast),
      figure(bare["at once"]?.microseconds ?? Number.NaN),
      times(bare["at once"]?.ratio ?? Number.NaN),
      figure(bare["one by one"]?.microseconds ?? Number.NaN),
      times(bare["one by one"]?.ratio ?? Number.NaN),
      turns >= 1_000 ? times(growth) : "–",
    ]),
  );
}

function sentence({ aCommit, aTurn, commitsATurn }: RoundTrips): string {
  return `A turn is ${figure(commitsATurn)} commits and ${figure(aTurn)} round trips: ${figure(aCommit)} a commit.`;
}

const reading = `The same on a real server that waits for its disk (\`fsync\` and \`synchronous_commit\` are on), on this machine. The bare
\`pg\` client writes the statements that Holdfast wrote between BEGIN and COMMIT, prepared, in two ways. **At once**: everything
up to COMMIT is sent without waiting (\`pipeline: true\`), the best that the client can do. **One by one**: each statement waits
for the answer to the one before, as most programs do it. The first is the harder one to be measured against, and the one that
the target means.

Round trips are counted by a proxy between Holdfast and the server: one begins when Holdfast speaks on a connection after
the server has spoken. Everything between the message and its outcome is in it, also what the worker asks to keep its lease
and to find more work.`;
