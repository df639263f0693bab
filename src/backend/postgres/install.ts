// The schema, and the functions and types in it that statements may use. Any number of processes may install at once.
import { DatabaseError, escapeIdentifier, escapeLiteral } from "pg";
import { holdfastError } from "../../contracts/error.ts";
import type { Scalar, Statement } from "../sql-driver.ts";
import { REFUSED, statementFailure } from "./failure.ts";
import type { Answer } from "./pipeline.ts";

type SqlFunction = {
  readonly name: string;
  readonly parameters: string;
  readonly returns: string;
  readonly language: "sql" | "plpgsql";
  readonly body: string;
};

/** Signals of one schema go through one channel. */
export function signalChannel(schema: string): string {
  return `holdfast:${schema}`;
}

function functionsOf(schema: string): readonly SqlFunction[] {
  return [
    {
      name: "now_us",
      parameters: "",
      returns: "bigint",
      language: "sql",
      body: "select (extract(epoch from clock_timestamp()) * 1000000)::bigint",
    },
    {
      name: "signal",
      parameters: "message text",
      returns: "integer",
      language: "sql",
      body: `select pg_notify(${escapeLiteral(signalChannel(schema))}, message); select 1`,
    },
    {
      name: "json_quote",
      parameters: "value text",
      returns: "text",
      language: "sql",
      body: "select to_json(value)::text",
    },
    {
      name: "expect_rows",
      parameters: "actual bigint, expected bigint",
      returns: "void",
      language: "plpgsql",
      body: `begin if actual <> expected then raise exception using errcode = '${REFUSED}',
        message = format('%s rows where %s were expected', actual, expected); end if; end`,
    },
  ];
}

/** Looks first: most processes find everything there, and need no right to create anything. */
export async function install(
  schema: string,
  lockKey: string,
  run: (statements: readonly Statement[]) => Promise<Answer>,
): Promise<void> {
  const functions = functionsOf(schema);
  const found = await run([...functions.map((each) => findFunction(schema, each)), findBlob(schema)]);
  if (found.kind === "done" && found.rows.every((rows) => rows.length === 1)) return;
  const created = await run([
    statement("select pg_advisory_xact_lock($1)", [lockKey]),
    statement(`create schema if not exists ${escapeIdentifier(schema)}`),
    ...functions.map((each) => createFunction(schema, each)),
    createBlob(schema),
  ]);
  if (created.kind === "done") return;
  const error = created.kind === "failed" ? created.error : created.cause;
  if (!(error instanceof DatabaseError)) throw error;
  if (error.code !== INSUFFICIENT_PRIVILEGE) throw statementFailure(error);
  throw holdfastError("database_refused", `The schema "${schema}" cannot be set up: ${error.message}.`, error);
}

const INSUFFICIENT_PRIVILEGE = "42501";

function findFunction(schema: string, { name, body }: SqlFunction): Statement {
  const sql = `select 1 as found from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
    where nspname = $1 and proname = $2 and prosrc = $3`;
  return statement(sql, [schema, name, body]);
}

function createFunction(schema: string, { name, parameters, returns, language, body }: SqlFunction): Statement {
  return statement(`create or replace function ${escapeIdentifier(schema)}.${name}(${parameters}) returns ${returns}
    language ${language} volatile as ${escapeLiteral(body)}`);
}

function findBlob(schema: string): Statement {
  const sql = `select 1 as found from pg_type join pg_namespace on pg_namespace.oid = typnamespace
    where nspname = $1 and typname = $2`;
  return statement(sql, [schema, BLOB]);
}

/** Bytes by the name that the other database has for them, so that one text makes the tables on both. */
const BLOB = "blob";

/** There is no "if not exists" for a domain. */
function createBlob(schema: string): Statement {
  const create = `create domain ${escapeIdentifier(schema)}.${BLOB} as bytea`;
  return statement(`do ${escapeLiteral(`begin ${create}; exception when duplicate_object then null; end`)}`);
}

function statement(sql: string, params: readonly Scalar[] = []): Statement {
  return { sql, params };
}
