// Long reads of a SQLite file, in a thread of their own so that the engine goes on meanwhile.
import { Worker } from "node:worker_threads";
import type { Row, Scalar } from "../sql-driver.ts";
import type { ReadAnswer, ReadRequest } from "./reader-worker.ts";
import { sqliteError } from "./sqlite-error.ts";

export type LongReader = {
  read(sql: string, params: readonly Scalar[]): Promise<readonly Row[]>;
  /** Waits for the reads that were begun. */
  close(): Promise<void>;
};

// The name of the other file is not rewritten by the build, so it is the ending of this one that tells which there is.
const workerFile = import.meta.url.endsWith(".ts") ? "./reader-worker.ts" : "./reader-worker.js";

/** Starts the thread with the first read. It keeps the process alive only as long as an answer is outstanding. */
export function longReader(path: string): LongReader {
  const outstanding = new Map<number, PromiseWithResolvers<readonly Row[]>>();
  let worker: Worker | undefined;
  let asked = 0;

  function start(): Worker {
    // Flags of the process are not for this thread; --input-type even keeps a file from being run.
    const started = new Worker(new URL(workerFile, import.meta.url), { workerData: path, execArgv: [] });
    started.on("message", (answer: ReadAnswer) => settle(answer.id, answer));
    started.on("error", (error) => abandon(started, error));
    started.on("exit", () => abandon(started, new Error("The thread for long reads has ended.")));
    return started;
  }

  function settle(id: number, answer: Omit<ReadAnswer, "id">): void {
    const read = outstanding.get(id);
    outstanding.delete(id);
    if (outstanding.size === 0) worker?.unref();
    if (answer.rows) read?.resolve(answer.rows);
    else read?.reject(sqliteError(Object.assign(new Error(answer.message), { errcode: answer.errcode }), path));
  }

  // What it was asked is lost; the next read starts another thread.
  function abandon(ended: Worker, error: unknown): void {
    if (worker !== ended) return;
    worker = undefined;
    for (const read of outstanding.values()) read.reject(error);
    outstanding.clear();
  }

  return {
    read(sql, params) {
      worker ??= start();
      worker.ref();
      const read = Promise.withResolvers<readonly Row[]>();
      outstanding.set(asked, read);
      worker.postMessage({ id: asked, sql, params } satisfies ReadRequest);
      asked += 1;
      return read.promise;
    },
    async close() {
      const closing = worker;
      if (!closing) return;
      closing.ref();
      closing.postMessage("close");
      await new Promise((resolve) => closing.once("exit", resolve));
    },
  };
}
