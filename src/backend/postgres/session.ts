// The connection that is there all the time: it hears signals, and holds names for as long as this process lives. It
// needs a session of its own on the server, which a pooler in transaction mode does not give: connect past it.
import { setTimeout as sleep } from "node:timers/promises";
import { escapeIdentifier } from "pg";
import { holdfastError } from "../../contracts/error.ts";
import type { Connection, ConnectionEvents } from "./connection.ts";
import { connectFailure, unavailable } from "./failure.ts";
import type { Answer } from "./pipeline.ts";
import { pause } from "./pool.ts";

export type SessionOptions = {
  readonly channel: string;
  readonly patienceMilliseconds: number;
  /** How often the server is asked for a sign of life: who only listens does not notice that nobody speaks any more. */
  readonly heartbeatMilliseconds: number;
  lockKey(name: string): string;
  connect(events: ConnectionEvents): Promise<Connection>;
  run(connection: Connection, sql: string, params?: readonly string[]): Promise<Answer>;
};

type Hold = { readonly whenHeld: Promise<void>; held(): void };

/** How soon a name is tried again that another session still has, such as our own from before a network failure. */
const RETRY_MILLISECONDS = 100;

export class Session {
  readonly #options: SessionOptions;
  readonly #listeners = new Set<(text: string) => void>();
  readonly #holds = new Map<string, Hold>();
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  /** A connection answers one question at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Rejects when the server does not want us, or not within our patience. Later on it is waited for without end. */
  async open(): Promise<void> {
    const { patienceMilliseconds, heartbeatMilliseconds } = this.#options;
    const patienceEnds = performance.now() + patienceMilliseconds;
    await this.#connect((error) => {
      const refusal = connectFailure(error, false);
      if (refusal) throw refusal;
      if (performance.now() > patienceEnds) throw unavailable(error, patienceMilliseconds);
    });
    this.#heartbeat = setInterval(() => {
      if (this.#connection) void this.#ask(this.#connection, "select 1");
    }, heartbeatMilliseconds);
    this.#heartbeat.unref();
  }

  listen(onSignal: (text: string) => void): () => void {
    // Wrapped, so that a function that listens twice is called twice and stops once each.
    const listener = (text: string) => onSignal(text);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves once the name is held. It is taken again after every loss of the connection. */
  hold(name: string): Promise<void> {
    if (this.#closing.signal.aborted) {
      return Promise.reject(holdfastError("database_closed", "The driver was closed."));
    }
    const known = this.#holds.get(name);
    if (known) return known.whenHeld;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { patienceMilliseconds } = this.#options;
    const patience = setTimeout(() => {
      this.#holds.delete(name);
      const seconds = Math.round(patienceMilliseconds / 1_000);
      const detail = `The name "${name}" could not be had for ${seconds} seconds; another session may hold it.`;
      reject(holdfastError("database_unavailable", detail));
    }, patienceMilliseconds);
    const held = () => {
      clearTimeout(patience);
      resolve();
    };
    this.#holds.set(name, { whenHeld: promise, held });
    if (this.#connection) void this.#take(this.#connection, name);
    return promise;
  }

  /** Gives all names back before the connection ends, so that nobody sees them held for a moment longer. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#heartbeat);
    for (const { held } of this.#holds.values()) held();
    const connection = this.#connection;
    if (!connection) return;
    await this.#ask(connection, "select pg_advisory_unlock_all()");
    this.#connection = undefined;
    await connection.end();
  }

  /** Tries until there is a connection that listens; `failed` may throw to give up. */
  async #connect(failed: (error: unknown) => void): Promise<void> {
    for (let attempts = 1; ; attempts++) {
      try {
        await this.#establish();
        return;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        failed(error);
      }
      await this.#rest(pause(attempts));
    }
  }

  async #establish(): Promise<void> {
    const { connect, run, channel } = this.#options;
    const connection = await connect({
      onLost: (lost) => this.#lost(lost),
      onSignal: (text) => this.#tell(text),
    });
    const listening = await run(connection, `listen ${escapeIdentifier(channel)}`);
    if (this.#closing.signal.aborted || listening.kind !== "done" || connection.isLost) {
      await connection.end();
      if (listening.kind === "failed") throw listening.error;
      throw listening.kind === "lost" ? listening.cause : new Error("Connection terminated");
    }
    this.#connection = connection;
    for (const name of this.#holds.keys()) void this.#take(connection, name);
  }

  #lost(connection: Connection): void {
    if (connection !== this.#connection || this.#closing.signal.aborted) return;
    this.#connection = undefined;
    // Without words: signals may have been missed while nobody listened, so whoever waits for one should look.
    void this.#connect(() => {}).then(() => this.#tell(""));
  }

  async #take(connection: Connection, name: string): Promise<void> {
    const key = this.#options.lockKey(name);
    while (connection === this.#connection && !this.#closing.signal.aborted) {
      const answer = await this.#ask(connection, "select pg_try_advisory_lock($1) as held", [key]);
      const hold = this.#holds.get(name);
      if (!hold) return;
      if (answer.kind === "done" && answer.rows[0]?.[0]?.held === 1) {
        hold.held();
        return;
      }
      await this.#rest(RETRY_MILLISECONDS);
    }
  }

  #ask(connection: Connection, sql: string, params: readonly string[] = []): Promise<Answer> {
    const answer = this.#turn.then(() => this.#options.run(connection, sql, params));
    this.#turn = answer;
    return answer;
  }

  #tell(text: string): void {
    for (const listener of [...this.#listeners]) {
      if (this.#closing.signal.aborted || !this.#listeners.has(listener)) continue;
      try {
        listener(text);
      } catch {
        // Whoever listens looks after its own errors; the others have to be told all the same.
      }
    }
  }

  /** Ends early when this is closed. */
  async #rest(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => {});
  }
}
