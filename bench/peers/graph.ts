// The agent of the benchmark as a graph: a node that asks the model, a node that runs tools, and an edge back. As in
// LangGraph's own quickstart; model and tool answer at once.
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesDeltaValue, MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { z } from "zod";

/** `deltas` is experimental: checkpoints then hold what was added and not the whole list. */
export type Keeping = "messages" | "deltas";

/** Runs one thread of so many turns with a tool call each, then a last answer in words. */
export async function runGraph(checkpointer: BaseCheckpointSaver, turns: number, keeping: Keeping): Promise<number> {
  let asked = 0;
  const nothing = tool(async () => ({ done: true }), {
    name: "nothing",
    description: "Does nothing.",
    schema: z.object({ step: z.number() }),
  });
  const model = async () => {
    const step = asked++;
    if (step >= turns) return { messages: [new AIMessage("Done.")] };
    const call = { id: `call-${step}`, name: "nothing", args: { step } };
    return { messages: [new AIMessage({ content: "", tool_calls: [call] })] };
  };
  const state = new StateSchema({ messages: keeping === "deltas" ? MessagesDeltaValue : MessagesValue });
  const graph = new StateGraph(state)
    .addNode("model", model)
    .addNode("tools", new ToolNode([nothing]))
    .addEdge(START, "model")
    .addConditionalEdges("model", toolsCondition)
    .addEdge("tools", "model")
    .compile({ checkpointer });
  const start = performance.now();
  const { messages } = await graph.invoke(
    { messages: [{ role: "user", content: "go" }] },
    { configurable: { thread_id: "bench" }, recursionLimit: 2 * turns + 2 },
  );
  const microseconds = ((performance.now() - start) * 1000) / turns;
  if (messages.length !== 2 * turns + 2) throw new Error(`The graph ended with ${messages.length} messages.`);
  return microseconds;
}
