// One connection to the server: opened, set up, used for one pipeline after another, and lost some day.
import type { Socket } from "node:net";
import { Client, escapeIdentifier, type Notification, type Connection as WireConnection } from "pg";
import { type Answer, Pipeline, type PlannedStatement } from "./pipeline.ts";
import { PreparedStatements } from "./prepared-statements.ts";
import { watchForSilence } from "./silence.ts";

export type ConnectionSettings = {
  readonly url: string;
  readonly schema: string;
  /** How long it may take until there is a connection that is set up. */
  readonly connectMilliseconds: number;
  /** How long the server may leave a pipeline without a byte of an answer, before the connection counts as lost. */
  readonly answerMilliseconds: number;
  /** Ends the connection at once, also while it is being made. */
  readonly abandoned: AbortSignal;
};

export interface Connection {
  readonly isLost: boolean;
  /** It was lost because the server was asked and said nothing. */
  readonly wasSilent: boolean;
  /** One at a time. Rejects only where the statements cannot be written: then the connection is of no more use. */
  run(statements: readonly PlannedStatement[]): Promise<Answer>;
  end(): Promise<void>;
}

export type ConnectionEvents = {
  onLost?(connection: Connection): void;
  onSignal?(text: string): void;
};

/** How long a goodbye may take, to a server that may be gone. */
const END_TIMEOUT_MILLISECONDS = 2_000;
const KEEP_ALIVE_AFTER_MILLISECONDS = 10_000;

/** Rejects with the error of pg when there is no connection to be had. */
export async function connect(settings: ConnectionSettings, events: ConnectionEvents = {}): Promise<Connection> {
  const { abandoned, answerMilliseconds, connectMilliseconds } = settings;
  abandoned.throwIfAborted();
  const client = new Client({
    connectionString: settings.url,
    fallback_application_name: "holdfast",
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MILLISECONDS,
  });
  const prepared = new PreparedStatements();
  let isLost = false;
  let wasSilent = false;

  const connection: Connection = {
    get isLost() {
      return isLost;
    },
    get wasSilent() {
      return wasSilent;
    },
    run: (statements) =>
      new Promise((resolve) => {
        silence.asked();
        const settle = (answer: Answer) => {
          silence.answered();
          if (answer.kind === "lost") lose();
          resolve(answer);
        };
        client.query(new Pipeline(statements, prepared, settle));
      }),
    async end() {
      const deadline = setTimeout(() => wire(client).stream.destroy(), END_TIMEOUT_MILLISECONDS);
      await client.end();
      clearTimeout(deadline);
    },
  };
  // Whatever is under way is told the reason; then the connection is lost like any other.
  const cut = (reason: Error) => wire(client).stream.destroy(reason);
  const abandon = () => cut(abandoned.reason);
  const bytesRead = () => (wire(client).stream as Socket).bytesRead;
  const silence = watchForSilence(bytesRead, answerMilliseconds, () => {
    wasSilent = true;
    cut(timeExpired("No answer", answerMilliseconds));
  });
  const lose = () => {
    if (isLost) return;
    isLost = true;
    silence.stop();
    abandoned.removeEventListener("abort", abandon);
    wire(client).stream.destroy();
    events.onLost?.(connection);
  };

  // Whatever was running is told by itself; here it is enough that an error does not end the process.
  client.on("error", lose);
  abandoned.addEventListener("abort", abandon);
  // That of pg ends with the greeting, and the server may fall silent right after it.
  const deadline = setTimeout(() => cut(timeExpired("No connection", connectMilliseconds)), connectMilliseconds);
  try {
    await client.connect();
    await client.query(setUp(settings));
  } catch (error) {
    lose();
    client.end().catch(() => {});
    throw error;
  } finally {
    clearTimeout(deadline);
  }
  client.on("end", lose);
  client.on("notification", ({ payload }: Notification) => events.onSignal?.(payload ?? ""));
  wire(client).on("noData", () => prepared.described([]));
  return connection;
}

/**
 * The batches rely on these whatever the database's defaults are. The server looks after its end too: a client whose
 * machine is gone gives its locks back in seconds, not in hours.
 */
function setUp({ schema }: ConnectionSettings): string {
  return `
    set search_path to ${escapeIdentifier(schema)};
    set default_transaction_isolation to 'read committed';
    set tcp_keepalives_idle to 10;
    set tcp_keepalives_interval to 2;
    set tcp_keepalives_count to 5;
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;
}

function timeExpired(what: string, milliseconds: number): Error {
  return new Error(`${what} within ${milliseconds / 1_000} seconds`);
}

/** The layer below the client, which hears of every message; the types of pg leave it out. */
function wire(client: Client): WireConnection {
  return (client as unknown as { connection: WireConnection }).connection;
}
