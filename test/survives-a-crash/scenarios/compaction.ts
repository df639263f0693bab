// A thread that outgrows its bounds: summaries take the place of what is old, and one that fails changes nothing.
import { says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { type AgentDefinition, agent } from "../../../src/threads/agent.ts";
import type { Ending, Scenario } from "../scenario.ts";

const numbers = [1, 2, 3, 4];
const script = numbers.map((number) => says(`Noted, ${number}.`));

const transcript = numbers.flatMap((number) => [`user: Note ${number}.`, `assistant: Noted, ${number}.`]);

function ending(slug: string): Ending {
  return { agent: slug, status: "idle", transcript };
}

function notes(slug: string, summarizer: NonNullable<AgentDefinition["summarizer"]>) {
  const compaction = { max_messages: 4, recent_messages: 2 };
  return agent({ slug, model: scriptedModel(script), compaction, summarizer, retry: { attempts: 1 } });
}

export const compaction: Scenario = {
  name: "compaction",
  agents: () => [
    notes("secretary", (head) => `${head.length} messages before.`),
    notes("forgetful-secretary", () => {
      throw new Error("The summary was lost.");
    }),
  ],
  async play({ holdfast, key }) {
    for (const [name, slug] of Object.entries({ summarised: "secretary", unsummarised: "forgetful-secretary" })) {
      const thread = await holdfast.threads.open(key(name), { agent: slug });
      for (const number of numbers) await thread.send(`Note ${number}.`, { key: `note ${number}` });
    }
  },
  endings: { summarised: ending("secretary"), unsummarised: ending("forgetful-secretary") },
};
