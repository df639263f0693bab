// A runtime in a process of its own, so that it can be killed. What it does there is a program: a module of the tests
// that exports `run`.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { Holdfast, HoldfastOptions } from "../src/holdfast.ts";
import type { Agent } from "../src/threads/agent.ts";
import { secretKey, type World } from "./databases.ts";

/** What a program is given beside what the test wants of it: how to open a runtime on the test's database. */
export type Program<Given> = (
  open: (agents: readonly Agent[], options?: Partial<HoldfastOptions>) => Promise<Holdfast>,
  given: Given,
) => Promise<void>;

export type AnotherProcess = {
  /** The next line that the program prints. */
  says(): Promise<string>;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** How it ended, once it has. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

/** Starts a program, named by its address. It is killed with the test at the latest. */
export function startProcess(world: World, program: string, given: object): AnotherProcess {
  const main = new URL("./run-program.ts", import.meta.url);
  const task = JSON.stringify({ address: world.address, secretKey, program, given });
  const child: ChildProcess = spawn(process.execPath, [main.pathname, task], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  if (!child.stdout) throw new Error("A process without an output cannot say anything.");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ended,
    async says() {
      const { value, done } = await lines.next();
      if (done) throw new Error("The process ended without a word.");
      return value;
    },
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
}
