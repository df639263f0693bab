// The PostgreSQL driver: any number of processes on one database. A batch is one round trip.
import { createHash } from "node:crypto";
import { Client } from "pg";
import { errorMessage, holdfastError } from "../../contracts/error.ts";
import { checkValues } from "../check-values.ts";
import type { Backend, BatchOutcome, Row, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import { type ConnectionEvents, connect } from "./connection.ts";
import { REFUSED, statementFailure } from "./failure.ts";
import { createHeldSessions } from "./held-sessions.ts";
import { install, signalChannel } from "./install.ts";
import type { Answer, PlannedStatement } from "./pipeline.ts";
import { Pool } from "./pool.ts";
import { Session } from "./session.ts";
import { createPlans } from "./statement-plan.ts";

export type PostgresOptions = {
  /** Where the tables are; created when it does not exist. Runtimes with different schemas know nothing of each other. */
  readonly schema?: string;
  /** How many connections serve batches and reads. One more listens, and up to two more serve long reads. */
  readonly connections?: number;
  /** How long a call waits for a server that does not answer, before it is rejected with `database_unavailable`. */
  readonly patienceMilliseconds?: number;
  /**
   * How long a server may leave a statement without a byte of an answer, before the connection is given up: a minute
   * unless told. A read is then tried on a new connection; a batch may have happened. Long reads may take ten times as
   * long, since only their first row has to come by then. `close()` waits for answers no longer than this, nor than
   * five seconds.
   */
  readonly answerMilliseconds?: number;
};

type Settings = Required<PostgresOptions> & { readonly url: string };

const LONG_READS = 2;
const LONG_READ_FACTOR = 10;

/** What the session asks is answered at once, by a server that is there; its silence costs signals. */
const MOST_SESSION_MILLISECONDS = 15_000;

const MOST_CLOSE_MILLISECONDS = 5_000;

/** A single attempt need not outlast the patience, but a server that is busy gets a fair chance. */
const LEAST_CONNECT_MILLISECONDS = 2_000;
const MOST_CONNECT_MILLISECONDS = 5_000;

/**
 * A PostgreSQL database, such as `postgres(process.env.DATABASE_URL)`. Throws `database_url_invalid` or
 * `database_schema_invalid` at once; whether there is a server is only known when it is opened.
 */
export function postgres(
  url: string,
  {
    schema = "holdfast",
    connections = 4,
    patienceMilliseconds = 15_000,
    answerMilliseconds = 60_000,
  }: PostgresOptions = {},
): Backend {
  checkUrl(url);
  checkSchema(schema);
  const settings = { url, schema, connections: Math.max(1, connections), patienceMilliseconds, answerMilliseconds };
  return { name: "postgres", place: placeOf(url, schema), open: () => open(settings) };
}

async function open(settings: Settings): Promise<SqlDriver> {
  const { url, schema, patienceMilliseconds, answerMilliseconds } = settings;
  const planOf = createPlans();
  const plan = (statement: Statement): PlannedStatement => {
    checkValues(statement.params);
    return { plan: planOf(statement), params: statement.params };
  };
  const lockKey = (name: string) => advisoryKey(`${schema}\n${name}`);
  const abandoning = new AbortController();
  const abandoned = abandoning.signal;
  const connectMilliseconds = Math.max(
    LEAST_CONNECT_MILLISECONDS,
    Math.min(MOST_CONNECT_MILLISECONDS, patienceMilliseconds),
  );
  const connectWith = (answer: number, events: ConnectionEvents) =>
    connect({ url, schema, connectMilliseconds, answerMilliseconds: answer, abandoned }, events);
  const poolOf = (size: number, answer: number) =>
    new Pool({ size, patienceMilliseconds, abandoned, connect: (onLost) => connectWith(answer, { onLost }) });

  const pool = poolOf(settings.connections, answerMilliseconds);
  const longReads = poolOf(LONG_READS, answerMilliseconds * LONG_READ_FACTOR);
  const sessionMilliseconds = Math.min(MOST_SESSION_MILLISECONDS, answerMilliseconds);
  const session = new Session({
    channel: signalChannel(schema),
    patienceMilliseconds,
    heartbeatMilliseconds: sessionMilliseconds,
    lockKey,
    connect: (events) => connectWith(sessionMilliseconds, events),
    run: (connection, sql, params = []) => connection.run([plan({ sql, params })]),
  });

  async function read(from: Pool, sql: string, params: readonly Scalar[]): Promise<readonly Row[]> {
    const answer = await from.run([plan({ sql, params })], { repeatable: true });
    return rowsOf(answer)[0] ?? [];
  }

  const isSessionHeld = createHeldSessions({ lockKey, read: (sql, params) => read(pool, sql, params) });

  async function close(): Promise<void> {
    const abandon = () => {
      abandoning.abort(holdfastError("database_closed", "The driver was closed before the server had answered."));
    };
    const deadline = setTimeout(abandon, Math.min(MOST_CLOSE_MILLISECONDS, answerMilliseconds));
    await Promise.all([pool.close(), longReads.close()]);
    await session.close();
    clearTimeout(deadline);
    // Also what nobody waits for any more, such as an attempt to listen again.
    abandon();
  }

  try {
    await install(schema, lockKey("install"), (statements) => pool.run(statements.map(plan), { repeatable: true }));
    await session.open();
  } catch (error) {
    await close();
    throw error;
  }

  let closed: Promise<void> | undefined;
  return {
    name: "postgres",
    isShared: true,
    all: (sql, params = []) => read(pool, sql, params),
    readLong: (sql, params = []) => read(longReads, sql, params),
    async batch(statements) {
      return outcomeOf(await pool.run(statements.map(plan), { repeatable: false }));
    },
    listen: (onSignal) => session.listen(onSignal),
    holdSession: (name) => session.hold(name),
    isSessionHeld,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

function outcomeOf(answer: Answer): BatchOutcome {
  if (answer.kind === "lost") return { outcome: "unknown", cause: answer.cause };
  if (answer.kind === "failed" && answer.error.code === REFUSED) return { outcome: "refused", at: answer.at };
  return { outcome: "committed", rows: rowsOf(answer) };
}

function rowsOf(answer: Answer): readonly (readonly Row[])[] {
  if (answer.kind === "failed") throw statementFailure(answer.error);
  if (answer.kind === "lost") throw answer.cause;
  return answer.rows;
}

/** Advisory locks are numbered in a space that all users of a database share, so the number is a hash of 64 bits. */
function advisoryKey(name: string): string {
  return createHash("sha256").update(`holdfast\n${name}`).digest().readBigInt64BE().toString();
}

/** The URL itself is never repeated: it holds a password. */
function checkUrl(url: string): void {
  if (typeof url !== "string" || !/^postgres(ql)?:\/\//.test(url)) {
    throw holdfastError("database_url_invalid", "The URL of a PostgreSQL database begins with postgres://.");
  }
  try {
    new Client({ connectionString: url });
  } catch (error) {
    throw holdfastError("database_url_invalid", `The URL cannot be read: ${errorMessage(error)}.`);
  }
}

/** What was checked before may still be no URL for Node, such as one that names a socket; then little is said of it. */
function placeOf(url: string, schema: string): string {
  const within = `schema ${schema}`;
  if (!URL.canParse(url)) return `PostgreSQL, ${within}`;
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}, ${within}`;
}

function checkSchema(schema: string): void {
  if (/^[a-z_][a-z0-9_]{0,49}$/.test(schema) && !schema.startsWith("pg_")) return;
  throw holdfastError("database_schema_invalid", `A schema cannot be named ${JSON.stringify(schema)}.`);
}
