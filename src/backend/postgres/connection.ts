// One connection to the server: opened, set up, used for one pipeline after another, and lost some day.
import { Client, escapeIdentifier, type Notification, type Connection as WireConnection } from "pg";
import { type Answer, Pipeline, type PlannedStatement } from "./pipeline.ts";
import { PreparedStatements } from "./prepared-statements.ts";

export type ConnectionSettings = { readonly url: string; readonly schema: string };

export interface Connection {
  readonly isLost: boolean;
  /** One at a time. Never rejects. */
  run(statements: readonly PlannedStatement[]): Promise<Answer>;
  end(): Promise<void>;
}

export type ConnectionEvents = {
  onLost?(connection: Connection): void;
  onSignal?(text: string): void;
};

const CONNECT_TIMEOUT_MILLISECONDS = 5_000;
/** How long a goodbye may take, to a server that may be gone. */
const END_TIMEOUT_MILLISECONDS = 2_000;
const KEEP_ALIVE_AFTER_MILLISECONDS = 10_000;

/** Rejects with the error of pg when there is no connection to be had. */
export async function connect(settings: ConnectionSettings, events: ConnectionEvents = {}): Promise<Connection> {
  const client = new Client({
    connectionString: settings.url,
    fallback_application_name: "holdfast",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MILLISECONDS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MILLISECONDS,
  });
  const prepared = new PreparedStatements();
  let isLost = false;

  const connection: Connection = {
    get isLost() {
      return isLost;
    },
    run: (statements) =>
      new Promise((resolve) => {
        const settle = (answer: Answer) => {
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
  const lose = () => {
    if (isLost) return;
    isLost = true;
    wire(client).stream.destroy();
    events.onLost?.(connection);
  };

  // Whatever was running is told by itself; here it is enough that an error does not end the process.
  client.on("error", lose);
  try {
    await client.connect();
    await client.query(setUp(settings));
  } catch (error) {
    client.end().catch(() => {});
    throw error;
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

/** The layer below the client, which hears of every message; the types of pg leave it out. */
function wire(client: Client): WireConnection {
  return (client as unknown as { connection: WireConnection }).connection;
}
