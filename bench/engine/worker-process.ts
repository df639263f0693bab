// Starts, stops and kills the processes that work.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Database, Engine } from "./engine.ts";
import type { Report } from "./worker.ts";

const BEGIN_WITHIN_MS = 20_000;

export interface WorkerProcess {
  /** Resolves when a step has begun; only of processes that never finish one. */
  begun(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** Ready to work when this returns. A step takes up to `longestMs`; with Infinity it never ends. */
export async function startWorker(engine: Engine, { url }: Database, longestMs: number): Promise<WorkerProcess> {
  const child = fork(fileURLToPath(new URL("worker.ts", import.meta.url)), [engine.name, url, String(longestMs)]);
  const begun = reported(child, "begun");
  await reported(child, "ready");
  const ended = once(child, "exit");
  return {
    begun: () => Promise.race([begun, pause(BEGIN_WITHIN_MS, undefined, { ref: false }).then(tooLate)]),
    stop: async () => {
      child.send("stop");
      await ended;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function tooLate(): never {
  throw new Error(`No step began within ${BEGIN_WITHIN_MS} ms.`);
}

function reported(child: ChildProcess, kind: Report["kind"]): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on("message", (report: Report) => {
      if (report.kind === kind) resolve();
    });
    child.once("exit", (code) => {
      if (code) reject(new Error(`A worker ended with code ${code}.`));
    });
  });
}
