// A runtime that queues a message and is killed the moment it has been told that the message is stored.
import type { Program } from "../another-process.ts";
import { helperOf } from "./open-agents.ts";

export const run: Program<{ readonly key: string; readonly texts: readonly string[] }> = async (
  open,
  { key, texts },
) => {
  const holdfast = await open([helperOf({ model: () => new Promise(() => undefined) })]);
  const thread = await holdfast.threads.open(key, { agent: "helper" });
  for (const text of texts) await thread.queueMessage(text);
  process.kill(process.pid, "SIGKILL");
};
