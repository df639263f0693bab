// A few connections that take turns at whatever is asked. They come and go with the server; those who ask only notice
// when that takes longer than their patience.
import { setTimeout as sleep } from "node:timers/promises";
import { holdfastError } from "../../contracts/error.ts";
import type { Connection } from "./connection.ts";
import { connectFailure, isConflict, unavailable } from "./failure.ts";
import type { Answer, PlannedStatement } from "./pipeline.ts";

export type PoolOptions = {
  readonly size: number;
  readonly patienceMilliseconds: number;
  /** Ends the waiting and the repeating; the connections hear of it by themselves. */
  readonly abandoned: AbortSignal;
  connect(onLost: (connection: Connection) => void): Promise<Connection>;
};

type Waiting = { readonly since: number; resolve(connection: Connection): void; reject(error: unknown): void };

/** How often a batch is tried against others that are in its way. */
const MOST_CONFLICTS = 10;

export class Pool {
  readonly #options: PoolOptions;
  readonly #open = new Set<Connection>();
  readonly #idle: Connection[] = [];
  #waiting: Waiting[] = [];
  readonly #connecting = new Set<Promise<void>>();
  #reconnect: NodeJS.Timeout | undefined;
  /** Since when no connection could be made, and how often it was tried. */
  #down: { readonly since: number; readonly attempts: number } | undefined;
  #wasConnected = false;
  #running = 0;
  #isClosing = false;
  #whenQuiet: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { abandoned } = options;
    abandoned.addEventListener("abort", () => {
      clearTimeout(this.#reconnect);
      this.#reject(() => true, abandoned.reason);
    });
  }

  /**
   * Runs statements as one transaction, again where that is safe: always when they are `repeatable`, otherwise only
   * when nothing has happened for certain. Rejects when there is no server or it does not want us.
   */
  async run(statements: readonly PlannedStatement[], { repeatable }: { repeatable: boolean }): Promise<Answer> {
    if (this.#isClosing) throw holdfastError("database_closed", "The driver was closed.");
    this.#running += 1;
    try {
      return await this.#attempt(statements, repeatable);
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#whenQuiet?.();
    }
  }

  /** Waits for what was begun. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#whenQuiet = resolve;
      });
    }
    clearTimeout(this.#reconnect);
    await Promise.all(this.#connecting);
    await Promise.all([...this.#open].map((connection) => connection.end()));
  }

  async #attempt(statements: readonly PlannedStatement[], repeatable: boolean): Promise<Answer> {
    let conflicts = 0;
    let losses = 0;
    let patienceEnds: number | undefined;
    for (;;) {
      const connection = this.#idle.pop() ?? (await this.#wait());
      const answer = await this.#runOn(connection, statements);
      if (answer.kind === "failed" && isConflict(answer.error) && conflicts < MOST_CONFLICTS) {
        conflicts += 1;
        await sleep(Math.random() * 2 ** Math.min(conflicts, 6));
      } else if (answer.kind === "lost" && (repeatable || answer.isUndone)) {
        this.#options.abandoned.throwIfAborted();
        patienceEnds ??= performance.now() + this.#options.patienceMilliseconds;
        if (performance.now() > patienceEnds) throw unavailable(answer.cause, this.#options.patienceMilliseconds);
        // A connection that was found dead is no reason to wait; a server that ends one after the other is.
        losses += 1;
        if (losses > 1) await sleep(pause(losses));
      } else {
        return answer;
      }
    }
  }

  /** However it ends, the connection is not kept from the others: it goes back, or makes room for another. */
  async #runOn(connection: Connection, statements: readonly PlannedStatement[]): Promise<Answer> {
    let answer: Answer | undefined;
    try {
      answer = await connection.run(statements);
      return answer;
    } finally {
      // Without an answer nobody knows how much of the statements was written: the next ones must not follow on that.
      if (answer) this.#release(connection);
      else this.#discard(connection);
    }
  }

  #discard(connection: Connection): void {
    this.#forget(connection);
    connection.end().catch(() => {});
    this.#grow();
  }

  #wait(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      this.#options.abandoned.throwIfAborted();
      this.#waiting.push({ since: performance.now(), resolve, reject });
      this.#grow();
    });
  }

  #release(connection: Connection): void {
    if (connection.isLost) {
      this.#grow();
      return;
    }
    const next = this.#waiting.shift();
    if (next) next.resolve(connection);
    else this.#idle.push(connection);
  }

  /** Opens a connection when somebody waits for one. While the server is away one attempt at a time is enough. */
  #grow(): void {
    if (this.#reconnect !== undefined || this.#waiting.length <= this.#connecting.size) return;
    const isFull = this.#open.size + this.#connecting.size >= this.#options.size;
    if (isFull || (this.#down && this.#connecting.size > 0)) return;
    const since = performance.now();
    const attempt = this.#options
      .connect((connection) => this.#lost(connection))
      .finally(() => this.#connecting.delete(attempt))
      .then(
        (connection) => this.#connected(connection),
        (error: unknown) => this.#failed(error, since),
      );
    this.#connecting.add(attempt);
  }

  #connected(connection: Connection): void {
    this.#down = undefined;
    this.#wasConnected = true;
    this.#open.add(connection);
    this.#release(connection);
    if (connection.isLost) this.#forget(connection);
    this.#grow();
  }

  #failed(error: unknown, began: number): void {
    const refusal = connectFailure(error, !this.#wasConnected);
    if (refusal) {
      this.#reject(() => true, refusal);
      return;
    }
    const { patienceMilliseconds } = this.#options;
    const down = { since: this.#down?.since ?? began, attempts: (this.#down?.attempts ?? 0) + 1 };
    this.#down = down;
    // Time spent in the queue of a server that was there does not count, and one connection can serve all who wait.
    const isOver = ({ since }: Waiting) => performance.now() - Math.max(since, down.since) >= patienceMilliseconds;
    if (this.#open.size === 0) this.#reject(isOver, unavailable(error, patienceMilliseconds));
    if (this.#waiting.length === 0 || this.#reconnect !== undefined) return;
    this.#reconnect = setTimeout(() => {
      this.#reconnect = undefined;
      this.#grow();
    }, pause(down.attempts));
  }

  #reject(isMeant: (waiting: Waiting) => boolean, error: Error): void {
    const meant = this.#waiting.filter(isMeant);
    this.#waiting = this.#waiting.filter((waiting) => !meant.includes(waiting));
    for (const waiting of meant) waiting.reject(error);
  }

  /** Where one is silent the others that were open are no better: they go too, before somebody tries each of them. */
  #lost(connection: Connection): void {
    this.#forget(connection);
    if (!connection.wasSilent) return;
    for (const idle of [...this.#idle]) {
      this.#forget(idle);
      void idle.end();
    }
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}

/** Between two attempts to connect: soon at first, later about once a second, and not all processes at the same time. */
export function pause(attempts: number): number {
  return Math.min(1_000, 25 * 2 ** attempts) * (0.5 + Math.random() / 2);
}
