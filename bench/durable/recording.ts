// A database that also keeps every batch that is written, so that the same rows can be written again without Holdfast.
import type { Backend, Statement } from "../../src/backend/sql-driver.ts";

export type Recorded = {
  /** What is written before the clock starts: the tables, and the thread itself. */
  readonly before: readonly (readonly Statement[])[];
  readonly batches: readonly (readonly Statement[])[];
};

export class Recording {
  readonly #batches: (readonly Statement[])[] = [];
  #start = 0;
  #stop: number | undefined;

  /** The clock of a sample starts here. */
  start(): void {
    this.#start = this.#batches.length;
  }

  stop(): void {
    this.#stop = this.#batches.length;
  }

  get recorded(): Recorded {
    return { before: this.#batches.slice(0, this.#start), batches: this.#batches.slice(this.#start, this.#stop) };
  }

  of(backend: Backend): Backend {
    return {
      ...backend,
      open: async () => {
        const driver = await backend.open();
        return {
          ...driver,
          batch: (statements) => {
            this.#batches.push(statements);
            return driver.batch(statements);
          },
        };
      },
    };
  }
}
