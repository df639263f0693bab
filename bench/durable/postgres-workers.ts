// How many turns a second one, two and four worker processes make on one PostgreSQL.
import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { Client, escapeIdentifier } from "pg";
import { postgres } from "../../src/backend/postgres/postgres.ts";
import { figure, table, times } from "../markdown.ts";
import { median } from "../median.ts";
import { inFreshSchema, postgresUrl } from "../postgres-server.ts";
import type { Section, Size } from "../section.ts";
import { startSubject } from "../subject.ts";
import { AGENT, nullAgent } from "./null-agent.ts";
import { openRuntime } from "./open-runtime.ts";
import type { Order } from "./worker-process.ts";

const sizes = {
  full: { threads: 300, turns: 20, rounds: 3 },
  quick: { threads: 64, turns: 10, rounds: 1 },
} as const;
const CONCURRENCY = 32;
const workerCounts = [1, 2, 4];

export const postgresWorkers: Section = {
  name: "workers",
  title: "Worker processes on one PostgreSQL",
  async measure(size: Size) {
    const { threads, turns, rounds } = sizes[size];
    const url = await postgresUrl();
    const samples = new Map<number, number[]>(workerCounts.map((count) => [count, []]));
    for (let round = 0; round < rounds; round++) {
      for (const [count, paces] of samples) {
        paces.push(await inFreshSchema(url, (schema) => pace({ url, schema, threads, turns, count })));
      }
    }
    const one = median(samples.get(1) ?? []);
    return {
      targets: [],
      tables: [
        table(
          [`${threads} threads of ${turns} turns`, "turns/s", "times one process"],
          [...samples].map(([count, paces]) => [
            `${count} ${count === 1 ? "process" : "processes"}`,
            figure(median(paces)),
            times(median(paces) / one),
          ]),
        ),
      ],
      reading,
    };
  },
};

type Load = {
  readonly url: string;
  readonly schema: string;
  readonly threads: number;
  readonly turns: number;
  readonly count: number;
};

/** Turns a second between the moment when all threads become due and the end of the last run, on the database's clock. */
async function pace({ url, schema, threads, turns, count }: Load): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const sender = await openRuntime(postgres(url, { schema }), [nullAgent(turns)], { runs: false });
  for (let index = 0; index < threads; index++) {
    const thread = await sender.threads.open(`bench-${index}`, { agent: AGENT });
    await thread.queueMessage("go");
  }
  await sender.close();
  await client.query(`set search_path to ${escapeIdentifier(schema)}`);
  await client.query("update threads set due_at = due_at + 3600000000");

  const file = new URL("worker-process.ts", import.meta.url);
  const workers = Array.from({ length: count }, () => startSubject<Order, true>(file));
  const start = { do: "start", url, schema, turns, concurrency: CONCURRENCY } as const;
  await Promise.all(workers.map((worker) => worker.ask(start)));
  const { rows: released } = await client.query("update threads set due_at = now_us() returning due_at");
  const begun = Math.min(...released.map(({ due_at }) => Number(due_at)));
  for (;;) {
    const { rows } = await client.query("select count(ended_at) as ended, max(ended_at) as last from runs");
    if (Number(rows[0].ended) === threads) {
      await Promise.all(workers.map((worker) => worker.ask({ do: "stop" })));
      await Promise.all(workers.map((worker) => worker.end()));
      await client.end();
      return (threads * turns * 1e6) / (Number(rows[0].last) - begun);
    }
    await pause(50);
  }
}

const reading = `All threads become due at the same moment, when every process is ready, each with ${CONCURRENCY} threads at a time; the
clock is the database's. The server and the workers share the ${availableParallelism()} cores of this machine, so that more processes than cores
cannot be faster here: the figures show that they do not get in each other's way.`;
