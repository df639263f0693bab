// The same job on LangGraph.js with its checkpointers, beside Holdfast in the same run. Its packages are not among ours:
// see peers/README.md.
import { readFile } from "node:fs/promises";
import { withContestants } from "./durable/compare.ts";
import type { Place } from "./durable/place.ts";
import { figure, table, times } from "./markdown.ts";
import { median, medianRatio } from "./median.ts";
import { postgresUrl } from "./postgres-server.ts";
import type { Section, Size, Target } from "./section.ts";
import { startSubject } from "./subject.ts";

/** A thread of so many turns with one of the checkpointers: PostgreSQL's, or without a URL that of SQLite. */
export type PeerOrder = { readonly url?: string; readonly turns: number; readonly keeping: "messages" | "deltas" };

const sizes = {
  full: { sqliteTurns: 1_000, postgresTurns: 100, rounds: 3 },
  quick: { sqliteTurns: 100, postgresTurns: 50, rounds: 1 },
} as const;

const packages = [
  "@langchain/langgraph",
  "@langchain/langgraph-checkpoint-sqlite",
  "@langchain/langgraph-checkpoint-postgres",
  "better-sqlite3",
];

export const peers: Section = {
  name: "peers",
  title: "LangGraph.js at the same job",
  async measure(size: Size) {
    const { sqliteTurns, postgresTurns, rounds } = sizes[size];
    const versions = await installedVersions();
    if (!versions) {
      const skipped = "Skipped: LangGraph.js is not installed. `node bench/peers/install.ts` does that.";
      return { targets: targets(), tables: [skipped], reading: reading(sizes.full) };
    }
    const url = await postgresUrl();
    const onSqlite = await measureAll(rounds, sqliteTurns, { database: "sqlite", synchronous: "full" });
    const onPostgres = await measureAll(rounds, postgresTurns, { database: "postgres", url });
    return {
      // Shorter threads say nothing about these: what a turn costs LangGraph.js grows with the thread.
      targets: size === "full" ? targets(onSqlite.ratio, onPostgres.ratio) : targets(),
      tables: [
        table(
          ["Microseconds a turn", "turns", "Holdfast", "LangGraph.js", "ratio", "with deltas (experimental)", "ratio"],
          [["SQLite", sqliteTurns, onSqlite] as const, ["PostgreSQL", postgresTurns, onPostgres] as const].map(
            ([name, turns, { ours, theirs, ratio, deltas, deltaRatio }]) => [
              name,
              turns.toLocaleString("en"),
              ...[figure(ours), figure(theirs), times(ratio), figure(deltas), times(deltaRatio)],
            ],
          ),
        ),
      ],
      reading: reading(sizes[size]),
      versions,
    };
  },
};

type Turns = { readonly sqliteTurns: number; readonly postgresTurns: number };

function targets(sqlite?: number, postgres?: number): Target[] {
  const { sqliteTurns, postgresTurns } = sizes.full;
  return [
    {
      says: `A turn of Holdfast on SQLite that waits for the disk is at least 25 × as fast as one of LangGraph.js with its SQLite checkpointer, at ${sqliteTurns.toLocaleString("en")} turns`,
      limit: { atLeast: 25 },
      measured: sqlite,
    },
    {
      says: `A turn of Holdfast on PostgreSQL is at least 5 × as fast as one of LangGraph.js with its PostgreSQL checkpointer, at ${postgresTurns} turns`,
      limit: { atLeast: 5 },
      measured: postgres,
    },
  ];
}

/** Microseconds a turn, and how many times ours theirs is. */
async function measureAll(rounds: number, turns: number, place: Place) {
  const peer = startSubject<PeerOrder, number>(new URL("peers/contestant.ts", import.meta.url));
  const url = place.database === "postgres" ? { url: place.url } : {};
  const samples = { ours: [] as number[], theirs: [] as number[], deltas: [] as number[] };
  await withContestants(async ({ holdfast }) => {
    for (let round = 0; round < rounds; round++) {
      samples.ours.push((await holdfast.ask({ place, turns })).microseconds);
      samples.theirs.push(await peer.ask({ ...url, turns, keeping: "messages" }));
      samples.deltas.push(await peer.ask({ ...url, turns, keeping: "deltas" }));
    }
  });
  await peer.end();
  const { ours, theirs, deltas } = samples;
  return {
    ours: median(ours),
    theirs: median(theirs),
    deltas: median(deltas),
    ratio: medianRatio(theirs, ours),
    deltaRatio: medianRatio(deltas, ours),
  };
}

/** Undefined unless all of them are there. */
async function installedVersions(): Promise<Record<string, string> | undefined> {
  try {
    const read = async (name: string) => {
      const manifest = await readFile(new URL(`peers/node_modules/${name}/package.json`, import.meta.url), "utf8");
      return [name, String(JSON.parse(manifest).version)];
    };
    return Object.fromEntries(await Promise.all(packages.map(read)));
  } catch {
    return undefined;
  }
}

function reading({ sqliteTurns, postgresTurns }: Turns): string {
  return `The agent as LangGraph's quickstart builds it: a \`StateGraph\` over messages, a node that asks the model, a \`ToolNode\`, and
the documented checkpointer, in its own default mode: \`durability: "async"\`, where a step does not wait until the one before is
stored, and SQLite in the mode in which \`better-sqlite3\` opens it, which does not wait for the disk (NORMAL). Holdfast waits
for the disk with every commit, two a turn. Neither compacts. A checkpoint holds all messages so far, so that a turn takes the
longer the longer the thread is: the figures are of threads of ${sqliteTurns.toLocaleString("en")} turns (SQLite) and ${postgresTurns} (PostgreSQL). With
\`MessagesDeltaValue\`, which LangGraph calls experimental, it holds what was added.

They do not do the same for their time. LangGraph keeps every state of the graph, to which one can go back; a tool that ran when
its process died runs again. Holdfast writes down that a call begins before it begins, so that it never runs twice unnoticed.`;
}
