// A process that has just started and takes up a thread that a crash has left behind, or only reads the thread's messages.
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { answerOrders } from "../subject.ts";
import { AGENT, nullAgent } from "./null-agent.ts";
import { openRuntime } from "./open-runtime.ts";

export type Order =
  /** Runs a thread until its model is asked for the answer after so many turns, and leaves it there. */
  | { readonly do: "leave behind"; readonly path: string; readonly turns: number }
  /** Opens the database and waits until the model is asked. */
  | { readonly do: "take up"; readonly path: string; readonly turns: number }
  /** Opens the database and reads the rows that the model is shown. */
  | { readonly do: "read"; readonly path: string; readonly turns: number };

/** Milliseconds. */
answerOrders(async (order: Order): Promise<number> => {
  const start = performance.now();
  if (order.do === "read") read(order.path);
  else await untilAsked(order.path, order.turns, order.do === "leave behind");
  return performance.now() - start;
});

function read(path: string): void {
  const database = new DatabaseSync(path);
  const rows = database
    .prepare(
      `select messages.* from threads join messages on thread_id = threads.id
       where thread_key = 'bench' and seq >= tail_from order by seq`,
    )
    .all();
  for (const { envelope } of rows) JSON.parse(String(envelope));
  database.close();
}

async function untilAsked(path: string, turns: number, isNew: boolean): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const stepper = nullAgent(turns + 1, {
    model: (_messages, _context, { step = 0 }) => {
      if (step < turns) return { content: "", tool_calls: [{ name: "bench/nothing", parameters: { step } }] };
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const holdfast = await openRuntime(sqlite(path), [stepper]);
  if (isNew) void (await holdfast.threads.open("bench", { agent: AGENT })).send("go");
  await asked.promise;
}
