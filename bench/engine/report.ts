// The figures as a table, and the page that says how they came about.
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import type { Crash } from "./crash.ts";
import { type Engine, WORKERS_PER_PROCESS } from "./engine.ts";
import type { Load, Speed } from "./speed.ts";
import type { Burst, WakeUps } from "./wake-ups.ts";

export type Result = {
  readonly engine: Engine;
  readonly speeds: readonly Speed[];
  readonly wakeUps: WakeUps;
  readonly crash: Crash;
};

type Size = { readonly rounds: number; readonly load: Load; readonly burst: Burst; readonly patienceMs: number };

const COLUMNS = ["", "steps/s", "transactions", "WAL", "lost wake-ups", "worked on twice", "after SIGKILL"];

export function table(results: readonly Result[]): string {
  return [
    row(COLUMNS),
    row(["---", ...COLUMNS.slice(1).map(() => "---:")]),
    ...results.map(({ engine, speeds, wakeUps, crash }) =>
      row([
        engine.name,
        pace(speeds),
        median(speeds.map(({ transactionsPerStep }) => transactionsPerStep)).toFixed(1),
        `${(median(speeds.map(({ walBytesPerStep }) => walBytesPerStep)) / 1024).toFixed(1)} KiB`,
        `${wakeUps.lost} of ${wakeUps.sent}${wakeUps.isUnfinished ? " (unfinished)" : ""}`,
        String(twice(speeds, wakeUps)),
        aftermath(crash),
      ]),
    ),
  ].join("\n");
}

export function page(results: readonly Result[], size: Size, serverVersion: string): string {
  const { rounds, load, burst, patienceMs } = size;
  return `# What can carry durable threads

Written by \`node main.ts\` in this folder; \`node main.ts --quick\` prints a rougher table and leaves this page alone.

Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, PostgreSQL ${serverVersion} with fsync,
graphile-worker ${versionOf("graphile-worker")}, pg-boss ${versionOf("pg-boss")}, pg ${versionOf("pg")}.

${table(results)}

## How to read it

A step reads its thread and the messages that no step saw yet, works, and commits with one statement: the step, the
messages it saw, and what makes the next step due. Two processes work, with ${WORKERS_PER_PROCESS} steps at a time each; a third one sends.

- **steps/s**: ${load.threads} threads with ${load.steps} steps each, all due at once, and a message to one of them every 20 ms, beside
  ${load.parked} threads that ran before and are parked. A step takes no time of its own. The median of ${rounds} rounds, in
  brackets the slowest and the fastest; the contestants take turns.
- **transactions** and **WAL**: what a step asked of the database in these rounds, reads included. Unlike the time, they
  hardly depend on the machine and on who else uses it.
- **lost wake-ups**: ${burst.threads} parked threads get ${burst.messages} messages each, a few milliseconds apart, from four senders; a step takes up to
  4 ms. Lost is a message that no step has seen after 5 seconds in which nothing happened. A later message to the same
  thread would have made good for it.
- **worked on twice**: steps begun while another step of the same thread was being worked on, or refused at the commit
  because it had been made meanwhile. With a real model each of them is a call that was paid for twice.
- **after SIGKILL**: how long until another process has made the step in whose middle its worker was killed. After
  ${patienceMs / 1000} s we look at what the contestant's own tables and code say, send the thread a message, and wait 5 s more.

## Settings

${results.map(({ engine }) => `- **${engine.name}**: ${engine.setting.replace(/\s+/g, " ")}.`).join("\n")}
`;
}

function pace(speeds: readonly Speed[]): string {
  const paces = speeds.map(({ stepsPerSecond }) => stepsPerSecond);
  const note = speeds.every(({ isFinished }) => isFinished) ? "" : ", unfinished";
  return `${median(paces).toFixed(0)} (${Math.min(...paces).toFixed(0)}–${Math.max(...paces).toFixed(0)}${note})`;
}

function twice(speeds: readonly Speed[], wakeUps: WakeUps): number {
  return [...speeds, wakeUps].reduce((sum, { refused, overlapping }) => sum + Math.max(refused, overlapping), 0);
}

function aftermath(crash: Crash): string {
  if (crash.outcome === "picked up") return `${crash.seconds.toFixed(1)} s`;
  return `${crash.says}${crash.wakesOnMessage ? ", or until a message comes" : ""}`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function versionOf(name: string): string {
  const require = createRequire(import.meta.url);
  return require(`./node_modules/${name}/package.json`).version;
}
