// The agent of the benchmark: each turn its model calls one tool, and neither takes any time of its own.
import { type Agent, type AgentDefinition, agent, tool } from "../../src/index.ts";

export const AGENT = "stepper";

type Options = Partial<AgentDefinition> & {
  /** Told each time when the model is asked, with how many answers it has given so far. */
  readonly onAsked?: (step: number) => void;
  /** What the tool answers with; little, unless given. */
  readonly result?: unknown;
};

/** So many turns with a call for every message, then a last answer in words. */
export function nullAgent(turns: number, { onAsked, result = { done: true }, ...definition }: Options = {}): Agent {
  const nothing = tool({ name: "bench/nothing", description: "Does nothing.", execute: () => result });
  return agent({
    slug: AGENT,
    maxTurns: turns + 1,
    tools: [nothing],
    model: (_messages, _context, { step = 0 }) => {
      onAsked?.(step);
      if (step % (turns + 1) === turns) return { content: "Done.", tool_calls: [] };
      return { content: "", tool_calls: [{ name: "bench/nothing", parameters: { step } }] };
    },
    ...definition,
  });
}

/** Nobody shows a model twenty thousand messages: in a thread that long the old ones become a summary. */
export const compacted = {
  compaction: { max_messages: 80, recent_messages: 20 },
  summarizer: () => "Steps were taken.",
};
