// The thread that long-reader.ts starts: reads one file on a connection that cannot write, one request after another.
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { Row, Scalar } from "../sql-driver.ts";
import { statementsOn } from "./statements.ts";

export type ReadRequest = { readonly id: number; readonly sql: string; readonly params: readonly Scalar[] };

/** Without rows, what SQLite said: an error would lose its number on the way. */
export type ReadAnswer = {
  readonly id: number;
  readonly rows?: readonly Row[];
  readonly message?: string;
  readonly errcode?: number;
};

let connection: { database: DatabaseSync; perform: ReturnType<typeof statementsOn> } | undefined;

parentPort?.on("message", (request: ReadRequest | "close") => {
  if (request !== "close") {
    parentPort?.postMessage(answer(request));
    return;
  }
  connection?.database.close();
  parentPort?.close();
});

function answer({ id, sql, params }: ReadRequest): ReadAnswer {
  try {
    connection ??= connect();
    return { id, rows: connection.perform(sql, params).rows };
  } catch (error) {
    const { message, errcode } = error as { message: string; errcode: number };
    return { id, message, errcode };
  }
}

function connect() {
  const database = new DatabaseSync(workerData, { readOnly: true });
  return { database, perform: statementsOn(database) };
}
