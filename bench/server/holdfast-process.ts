// Holdfast's server as one would start it, without a limit of how often one may come. Its agent answers at once, from a
// script; two routes answer nothing, one before it is known who calls and one after. Start it with --expose-gc to measure
// memory.
import assert from "node:assert/strict";
import { join } from "node:path";
import { postgres } from "../../src/backend/postgres/postgres.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { agent, type Holdfast } from "../../src/index.ts";
import { says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { serve } from "../../src/server/index.ts";
import { openRuntime } from "../durable/open-runtime.ts";
import { answerOrders } from "../subject.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { processorTime } from "./processor-time.ts";
import type { Memory, Order, Served, Setting } from "./server-subject.ts";

const AGENT = "clerk";
/** More answers than a thread is ever asked for. */
const ANSWERS = 100_000;
const AT_A_TIME = 50;

let holdfast: Holdfast | undefined;
let token = "";

answerOrders(async (order: Order): Promise<Served | Memory | number | true> => {
  switch (order.do) {
    case "serve":
      return await start(order.setting);
    case "tell processor time":
      return processorTime();
    case "measure memory":
      return await memory();
    case "send a message":
      await send(order.thread);
      return true;
  }
});

async function start({ postgres: place, threads }: Setting): Promise<Served> {
  const backend = place
    ? postgres(place.url, { schema: place.schema })
    : sqlite(join(makeTemporaryFolder(), "bench.db"), { synchronous: "full" });
  const model = scriptedModel(Array(ANSWERS).fill(says("It will be done.")));
  holdfast = await openRuntime(backend, [agent({ slug: AGENT, model })]);
  ({ token } = await holdfast.tokens.create({ agent: AGENT, owner_user_id: 2 }));
  const opened: string[] = [];
  while (opened.length < threads) {
    const count = Math.min(AT_A_TIME, threads - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: count }, openThread))));
  }
  const { url } = await serve(holdfast, {
    port: 0,
    rate: false,
    maxStreams: 10_000,
    openDoors: [(app) => app.get("/empty", (context) => context.json({}))],
    doors: [(app) => app.get("/empty-inside", (context) => context.json({}))],
  });
  return { url, token, threads: opened };
}

async function openThread(): Promise<string> {
  const { id } = (await call("holdfast/open-thread", { agent: AGENT })) as { id: string };
  await send(id);
  return id;
}

async function send(thread_id: string): Promise<void> {
  const answer = await call("holdfast/send-message", { thread_id, content: "Go on.", wait: true });
  assert.equal((answer as { status?: string }).status, "completed", JSON.stringify(answer));
}

/** As whoever holds the token, so that the threads are theirs. */
async function call(name: string, input: object): Promise<unknown> {
  const principal = await holdfast?.tokens.authenticate(token);
  assert.ok(holdfast && principal);
  return await holdfast.abilities.call(name, input, { principal, door: "http" });
}

/** What finalizers free goes only in a later collection. */
async function memory(): Promise<Memory> {
  assert.ok(globalThis.gc, "start this with --expose-gc");
  for (let collection = 0; collection < 4; collection++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed, external, resident: rss };
}
