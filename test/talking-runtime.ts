// A runtime whose model says its words one after another, and then answers or goes on for ever.
import type { Model } from "../src/models/model.ts";
import { agent } from "../src/threads/agent.ts";
import type { Program } from "./another-process.ts";

export const run: Program<{ words: readonly string[]; isEndless: boolean }> = async (open, { words, isEndless }) => {
  const model: Model = async (_messages, _context, { onDelta }) => {
    for (const text of words) {
      onDelta?.({ type: "text", text });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    if (isEndless) {
      console.log("endless");
      await new Promise(() => undefined);
    }
    return { content: words.join(""), tool_calls: [] };
  };
  await open([agent({ slug: "talker", model })]);
};
