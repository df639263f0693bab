// Starts a real child process and listens to what it tells.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { CHANNEL, type Told } from "./told.ts";

export type Child = {
  readonly pid: number;
  readonly told: readonly Told[];
  /** True once it has told something of that kind, false when it has ended without. */
  heard(kind: Told["kind"]): Promise<boolean>;
  /** How it ended, once it has; asked to, after the patience is over. */
  ended(patienceMs: number): Promise<Ended>;
  /** Asks it to come to an end. */
  finish(): void;
  signal(signal: NodeJS.Signals): void;
};

export type Ended = {
  readonly points: readonly string[];
  /** The point at which it was killed. */
  readonly killedAt: string | undefined;
  /** What it told that went wrong, and that it ended unasked. */
  readonly problems: readonly string[];
  /** What the scenario's own check has found. */
  readonly violations: readonly string[];
  /** What it wrote to its error output. */
  readonly noise: string;
};

/** How long one that was asked to end may take. */
const LAST_WORDS_MS = 5_000;

/** One that is asleep would outlive us without noticing. */
const alive = new Set<ChildProcess>();

/** The program finds the order in its first argument, as JSON. Its standard input ends when it is to come to an end. */
export function startChild(program: URL, order: object, execArgv: readonly string[] = []): Child {
  const child = spawn(process.execPath, [...execArgv, fileURLToPath(program), JSON.stringify(order)], {
    stdio: ["pipe", "ignore", "pipe", "pipe"],
    // Most of a start is reading sources; a killed process cannot keep what it has read, others do.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "holdfast-compile-cache"), ...process.env },
  });
  if (alive.size === 0) process.on("exit", killAll);
  alive.add(child);
  const told: Told[] = [];
  const listeners = new Set<() => void>();
  let noise = "";
  child.stdin?.on("error", () => {});
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    noise += text;
  });
  const lines = createInterface({ input: child.stdio[CHANNEL] as Readable });
  lines.on("line", (line) => {
    told.push(JSON.parse(line) as Told);
    for (const listener of listeners) listener();
  });
  const closed = Promise.all([once(child, "close"), once(lines, "close")]);
  let hasEnded = false;
  void closed.then(() => {
    alive.delete(child);
    if (alive.size === 0) process.off("exit", killAll);
    hasEnded = true;
    for (const listener of listeners) listener();
  });

  const names = (kind: Told["kind"]) =>
    told.flatMap((each) => (each.kind === kind && "name" in each ? [each.name] : []));
  const texts = (kind: Told["kind"]) =>
    told.flatMap((each) => (each.kind === kind && "text" in each ? [each.text] : []));

  async function ended(patienceMs: number): Promise<Ended> {
    const asked = setTimeout(() => child.stdin?.end(), patienceMs);
    const killed = setTimeout(() => child.kill("SIGKILL"), patienceMs + LAST_WORDS_MS);
    await closed;
    clearTimeout(asked);
    clearTimeout(killed);
    const [killedAt] = names("killed");
    const problems = texts("error");
    const isDone = told.some(({ kind }) => kind === "done");
    // A process that falls over says why in its own words, in the last of them.
    const words = noise.trim();
    const how = `It ended unasked (${child.exitCode ?? child.signalCode}). ${words.slice(-2_000)}`.trim();
    if (!isDone && killedAt === undefined) problems.push(how);
    return { points: names("point"), killedAt, problems, violations: texts("violation"), noise: words };
  }

  return {
    pid: child.pid ?? 0,
    told,
    ended,
    finish: () => child.stdin?.end(),
    signal: (signal) => void child.kill(signal),
    heard: (kind) =>
      new Promise((resolve) => {
        const look = () => {
          const isTold = told.some((each) => each.kind === kind);
          if (!hasEnded && !isTold) return;
          listeners.delete(look);
          resolve(isTold);
        };
        listeners.add(look);
        look();
      }),
  };
}

function killAll(): void {
  for (const child of alive) child.kill("SIGKILL");
}
