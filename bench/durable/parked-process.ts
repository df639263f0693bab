// Parks threads in approvals and tells how large the heap is afterwards. Started with --expose-gc.
import assert from "node:assert/strict";
import { join } from "node:path";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { agent, tool } from "../../src/index.ts";
import { answerOrders } from "../subject.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { openRuntime } from "./open-runtime.ts";

/** So many threads more. */
export type Order = { readonly threads: number };

const ask = tool({
  name: "bench/ask",
  description: "Asks first.",
  actionPolicy: "preview",
  execute: () => ({ done: true }),
});
const asker = agent({
  slug: "asker",
  tools: [ask],
  model: () => ({ content: "", tool_calls: [{ name: "bench/ask", parameters: {} }] }),
});
const backend = sqlite(join(makeTemporaryFolder(), "bench.db"), { synchronous: "normal" });
const holdfast = await openRuntime(backend, [asker]);

const AT_A_TIME = 50;
let parked = 0;

answerOrders(async ({ threads }: Order): Promise<number> => {
  for (const end = parked + threads; parked < end; ) {
    const count = Math.min(AT_A_TIME, end - parked);
    await Promise.all(Array.from({ length: count }, () => park(`bench-${parked++}`)));
  }
  return await heapBytes();
});

async function park(key: string): Promise<void> {
  const thread = await holdfast.threads.open(key, { agent: "asker" });
  const { status } = await thread.send("go");
  assert.equal(status, "approval_required");
}

/** What is left when everything is thrown away that can be: what finalizers free goes only in a later collection. */
async function heapBytes(): Promise<number> {
  assert.ok(globalThis.gc, "start this with --expose-gc");
  for (let collection = 0; collection < 4; collection++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}
