// LangGraph.js in a process of its own, with one of its checkpointers.
import { join } from "node:path";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import type { PeerOrder } from "../peers.ts";
import { inFreshSchema } from "../postgres-server.ts";
import { answerOrders } from "../subject.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";
import { runGraph } from "./graph.ts";

/** Short ones: what a turn costs grows with the thread, so that many turns in one would take for ever. */
const WARM_UP_TURNS = 50;
const WARM_UPS = 10;

let isWarm = false;

/** Microseconds a turn. */
answerOrders(async (order: PeerOrder): Promise<number> => {
  if (!isWarm) for (let run = 0; run < WARM_UPS; run++) await timed({ ...order, turns: WARM_UP_TURNS });
  isWarm = true;
  return await timed(order);
});

async function timed({ url, turns, keeping }: PeerOrder): Promise<number> {
  if (url === undefined) {
    return await inTemporaryFolder(async (folder) => {
      const checkpointer = SqliteSaver.fromConnString(join(folder, "bench.db"));
      const microseconds = await runGraph(checkpointer, turns, keeping);
      checkpointer.db.close();
      return microseconds;
    });
  }
  return await inFreshSchema(url, async (schema) => {
    const checkpointer = PostgresSaver.fromConnString(url, { schema });
    await checkpointer.setup();
    const microseconds = await runGraph(checkpointer, turns, keeping);
    await checkpointer.end();
    return microseconds;
  });
}
