// What a step costs on a durable thread, beside the bare database writing the very same rows in as many commits.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Backend, Statement } from "../src/backend/sql-driver.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { type AgentDefinition, agent, createHoldfast, tool } from "../src/index.ts";
import { median } from "./measure.ts";

/** The most that a step may cost, in bare commits of its own rows. */
export const MOST_BARE = 1.3;
/** The most that a late step may cost, in early ones. */
export const MOST_GROWTH = 1.2;

export const EARLY = 100;
export const LATE = 10_000;
/** So many steps before each of the two are taken together. */
const WINDOW = 100;
const STEPS = 400;
/** Rounds that do not count: it takes thousands of steps until everything is compiled. */
const WARM_UPS = 12;

export type DurableCost = {
  /** Microseconds a step: one answer of the model with one tool call, its result, and two commits. */
  readonly step: number;
  readonly bare: number;
  readonly ratio: number;
  readonly early: number;
  readonly late: number;
  readonly growth: number;
  /** The same without compaction, where the model is shown everything that was ever said. */
  readonly lateUncompacted: number;
  /** Of the database file, by the end of the long thread. */
  readonly bytesPerStep: number;
};

/** Medians over the rounds; the ratio is taken round by round, because the disk has good and bad moments. */
export async function measureDurable({ rounds, late = LATE }: { rounds: number; late?: number }): Promise<DurableCost> {
  const samples: { step: number; bare: number; early: number }[] = [];
  for (let round = -WARM_UPS; round < rounds; round++) {
    const { microseconds: step, batches, stamps } = await thread(STEPS, compacted);
    const bare = replay(batches, STEPS);
    if (round >= 0) samples.push({ step, bare, early: upTo(stamps, EARLY + WINDOW) });
  }
  const long = await thread(late, compacted);
  const whole = await thread(late);
  const early = median(samples.map((sample) => sample.early));
  const end = upTo(long.stamps, late);
  return {
    step: median(samples.map(({ step }) => step)),
    bare: median(samples.map(({ bare }) => bare)),
    ratio: median(samples.map(({ step, bare }) => step / bare)),
    early,
    late: end,
    growth: end / early,
    lateUncompacted: upTo(whole.stamps, late),
    bytesPerStep: long.bytes / late,
  };
}

/** Microseconds a step over the last ones up to that one. */
function upTo(stamps: readonly number[], step: number): number {
  return (((stamps[step] ?? 0) - (stamps[step - WINDOW] ?? 0)) * 1000) / WINDOW;
}

/** Nobody shows a model twenty thousand messages: as in any thread that long, the old ones become a summary. */
const compacted = {
  compaction: { max_messages: 80, recent_messages: 20 },
  summarizer: () => "Steps were taken.",
};

type Ran = { microseconds: number; batches: Statement[][]; stamps: number[]; bytes: number };

/** Runs one thread through so many steps on SQLite that waits for the disk, and keeps what was written. */
async function thread(steps: number, options: Partial<AgentDefinition> = {}): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const batches: Statement[][] = [];
  const stamps: number[] = [];
  const nothing = tool({ name: "bench/nothing", description: "Does nothing.", execute: () => ({ done: true }) });
  const stepper = agent({
    ...options,
    slug: "stepper",
    maxTurns: steps + 1,
    tools: [nothing],
    model: (_messages, _context, { step = 0 }) => {
      stamps.push(performance.now());
      if (step >= steps) return { content: "Done.", tool_calls: [] };
      return { content: "", tool_calls: [{ name: "bench/nothing", parameters: { step } }] };
    },
  });
  const backend = recording(sqlite(join(folder, "bench.db")), batches);
  const holdfast = await createHoldfast({ backend, agents: [stepper], drainsOnSignal: false });
  const opened = await holdfast.threads.open("bench", { agent: "stepper" });
  const start = performance.now();
  const { status } = await opened.send("go");
  const microseconds = ((performance.now() - start) * 1000) / steps;
  await holdfast.close();
  assert.equal(status, "completed");
  assert.equal(stamps.length, steps + 1, "the model was asked another number of times");
  const size = new DatabaseSync(join(folder, "bench.db"));
  const { bytes } = size
    .prepare("select page_count * page_size as bytes from pragma_page_count, pragma_page_size")
    .get() as { bytes: number };
  size.close();
  rmSync(folder, { recursive: true });
  return { microseconds, batches, stamps, bytes };
}

/** The same database, which also keeps every batch that was written. */
function recording(backend: Backend, batches: Statement[][]): Backend {
  return {
    ...backend,
    async open() {
      const driver = await backend.open();
      return {
        ...driver,
        batch: (statements) => {
          batches.push([...statements]);
          return driver.batch(statements);
        },
      };
    },
  };
}

/** Writes the same rows in the same commits, with nothing of ours in between. */
function replay(batches: readonly (readonly Statement[])[], steps: number): number {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const database = new DatabaseSync(join(folder, "bare.db"));
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  database.function("now_us", { deterministic: true }, () => BigInt(Date.now()) * 1000n);
  database.function("signal", (_text) => null);
  const prepared = new Map<string, StatementSync>();
  const statement = (sql: string) => {
    const known = prepared.get(sql) ?? database.prepare(sql.replace(/\$(\d+)/g, "?$1"));
    prepared.set(sql, known);
    return known;
  };
  const start = performance.now();
  for (const batch of batches) {
    database.exec("begin immediate");
    for (const { sql, params } of batch) statement(sql).all(...params);
    database.exec("commit");
  }
  const microseconds = ((performance.now() - start) * 1000) / steps;
  database.close();
  rmSync(folder, { recursive: true });
  return microseconds;
}
