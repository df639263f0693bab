// A runtime that does not get past its first model call: it dies in it, or waits there to be ended.
import type { Model } from "../src/models/model.ts";
import { agent } from "../src/threads/agent.ts";
import type { Program } from "./another-process.ts";

export type Given = {
  readonly key: string;
  readonly diesInModel: boolean;
  readonly leaseMs: number;
  readonly price?: { readonly input: number; readonly output: number };
};

export const run: Program<Given> = async (open, { key, diesInModel, leaseMs, price }) => {
  const model: Model = () => {
    if (diesInModel) process.kill(process.pid, "SIGKILL");
    console.log("asked");
    return new Promise(() => undefined);
  };
  const clerk = agent({ slug: "clerk", model: price ? { model, price } : model });
  const holdfast = await open([clerk], { leaseMs, drainMs: 50 });
  const thread = await holdfast.threads.open(key, { agent: "clerk" });
  // Sent under a key: whoever comes after a crash sends nothing new.
  await thread.queueMessage("Hello.", { key: "hello" });
  // A thread that is stuck ends nobody.
  if ((await thread.status()).status === "stuck") console.log("stuck");
};
