// A process that works on the threads of a PostgreSQL database until it is told to stop.
import { postgres } from "../../src/backend/postgres/postgres.ts";
import type { Holdfast } from "../../src/index.ts";
import { answerOrders } from "../subject.ts";
import { nullAgent } from "./null-agent.ts";
import { openRuntime } from "./open-runtime.ts";
import { inFreshDatabase } from "./place.ts";
import { runThread } from "./run-thread.ts";

export type Order =
  | {
      readonly do: "start";
      readonly url: string;
      readonly schema: string;
      readonly turns: number;
      readonly concurrency: number;
    }
  | { readonly do: "stop" };

/** Threads are made due all at once by somebody else's SQL, which tells nobody: the worker has to look often. */
const POLL_MS = 20;
/** So that most of the code is compiled before the clock starts. */
const WARM_UP_TURNS = 1_000;

let holdfast: Holdfast | undefined;

answerOrders(async (order: Order): Promise<true> => {
  if (order.do === "stop") {
    await holdfast?.close();
    return true;
  }
  await inFreshDatabase({ database: "sqlite", synchronous: "normal" }, ({ backend }) =>
    runThread(backend, WARM_UP_TURNS),
  );
  const { url, schema, turns, concurrency } = order;
  holdfast = await openRuntime(postgres(url, { schema }), [nullAgent(turns)], { concurrency, pollMs: POLL_MS });
  return true;
});
