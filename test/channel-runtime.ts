// A runtime with a channel behind a real server, in a process of its own. Its model answers, or waits there to be killed.
import { webhookChannel } from "../src/channels/webhook-channel.ts";
import type { Model } from "../src/models/model.ts";
import { channelsDoor } from "../src/server/channels.ts";
import { serve } from "../src/server/serve.ts";
import { agent } from "../src/threads/agent.ts";
import type { Program } from "./another-process.ts";

export type Given = { readonly secret: string; readonly replyUrl: string; readonly answers: boolean };

export const run: Program<Given> = async (open, { secret, replyUrl, answers }) => {
  const model: Model = (messages) => {
    console.log("asked");
    if (!answers) return new Promise(() => undefined);
    return { content: `You said: ${String(messages.at(-1)?.content)}`, tool_calls: [] };
  };
  const channels = [webhookChannel({ name: "shop", agent: "friend", secret, replyUrl })];
  const holdfast = await open([agent({ slug: "friend", model })], { channels, leaseMs: 1_000 });
  const { url } = await serve(holdfast, { port: 0, openDoors: [channelsDoor] });
  console.log(url);
};
