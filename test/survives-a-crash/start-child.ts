// Starts a real child process and listens to what it tells.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Order, Told } from "./order.ts";

/** One that is asleep would outlive us without noticing. */
const alive = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

const program = fileURLToPath(new URL("child.ts", import.meta.url));

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
  readonly problems: readonly string[];
};

export function startChild(order: Order): Child {
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ["pipe", "pipe", "pipe"],
    // Most of a start is reading our own sources; a killed process cannot keep what it has read, others do.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "holdfast-compile-cache") },
  });
  const told: Told[] = [];
  const listeners = new Set<() => void>();
  let noise = "";
  child.stdin.on("error", () => {});
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    noise += text;
  });
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    told.push(JSON.parse(line) as Told);
    for (const listener of listeners) listener();
  });
  const closed = Promise.all([once(child, "close"), once(lines, "close")]);
  let hasEnded = false;
  alive.add(child);
  void closed.then(() => {
    alive.delete(child);
    hasEnded = true;
    for (const listener of listeners) listener();
  });

  const names = (kind: Told["kind"]) =>
    told.flatMap((each) => (each.kind === kind && "name" in each ? [each.name] : []));

  async function ended(patienceMs: number): Promise<Ended> {
    const asked = setTimeout(() => child.stdin.end(), patienceMs);
    const killed = setTimeout(() => child.kill("SIGKILL"), patienceMs + 5_000);
    await closed;
    clearTimeout(asked);
    clearTimeout(killed);
    const [killedAt] = names("killed");
    const problems = told.flatMap((each) => (each.kind === "error" ? [each.text] : []));
    if (noise.trim() !== "") problems.push(noise.trim());
    const isDone = told.some(({ kind }) => kind === "done");
    if (!isDone && killedAt === undefined) problems.push(`It ended unasked (${child.exitCode ?? child.signalCode}).`);
    return { points: names("point"), killedAt, problems };
  }

  return {
    pid: child.pid ?? 0,
    told,
    ended,
    finish: () => child.stdin.end(),
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
