// A runtime behind its HTTP server that looks something up and tells what it found, and gets no further than its first words
// when it is to be killed there. What is started after it on the same database is let to the end.
import { says } from "../src/models/scripted/scripted-model.ts";
import { serve } from "../src/server/serve.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import type { Program } from "./another-process.ts";

/** `port`: where the one before was. */
export type Given = { readonly port?: number };

/** What it prints once it is there; the token is only of the first. */
export type Served = { readonly url: string; readonly token: string };

export const FIRST_WORDS = "Once upon";
export const WORDS = "Once upon a time 🦀.";

export const run: Program<Given> = async (open, { port }) => {
  const look = tool({ name: "sea/look", description: "Looks at the sea.", execute: () => "calm" });
  const talker = agent({
    slug: "talker",
    tools: [look],
    model: async (messages, _context, { onDelta }) => {
      if (messages.at(-1)?.type !== "tool_result") {
        return { content: "", tool_calls: [{ name: "sea/look", parameters: {} }] };
      }
      onDelta?.({ type: "text", text: FIRST_WORDS });
      if (port === undefined) await new Promise(() => undefined);
      return says(WORDS);
    },
  });
  const holdfast = await open([talker], { trust: { administrators: [1] } });
  const { token } = await holdfast.tokens.create({ agent: "visitor", owner_user_id: 1 });
  const { url } = await serve(holdfast, { port: port ?? 0, rate: false, retryMs: 5 });
  console.log(JSON.stringify({ url, token } satisfies Served));
};
