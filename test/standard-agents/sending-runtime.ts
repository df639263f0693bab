// A runtime that sends messages to a thread, all at once and as soon as somebody has spoken on another one.
import { setTimeout as sleep } from "node:timers/promises";
import type { Program } from "../another-process.ts";
import { helperOf } from "./open-agents.ts";

export type Given = { readonly key: string; readonly gate: string; readonly texts: readonly string[] };

export const run: Program<Given> = async (open, { key, gate, texts }) => {
  // Long enough for another process to get in between, if anything let it.
  const model = async () => await sleep(5, "Heard.");
  const { threads } = await open([helperOf({ model })]);
  const thread = await threads.open(key, { agent: "helper" });
  const opened = await threads.open(gate, { agent: "helper" });
  console.log("ready");
  for await (const { type } of opened.stream()) if (type === "message.added") break;
  await Promise.all(texts.map((text) => thread.send(text)));
  console.log("done");
};
