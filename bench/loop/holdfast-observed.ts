// Holdfast as most will use it: a turn runner, a tool and an observer.
import { type RunOptions, runConversation } from "../../src/index.ts";
import {
  type Answer,
  DESCRIPTION,
  type Done,
  type Loop,
  lookUp,
  PARAMETERS,
  PROMPT,
  script,
  TOOL,
} from "./workload.ts";

export const holdfastObserved: Loop = {
  name: "Holdfast, observed",
  messagesPerCall: 3, // text, tool call, tool result
  prepare: (turns) => holdfastRun(turns, {}),
};

/** A run of the workload with more options than it needs. */
export function holdfastRun(turns: number, options: RunOptions): () => Promise<Done> {
  const answers = script(turns);
  let modelCalls = 0;
  let toolCalls = 0;
  let observedTurns = 0;
  const tools = [{ name: TOOL, source: "desk", description: DESCRIPTION, parameters: PARAMETERS }];
  const everything: RunOptions = {
    maxTurns: turns + 1,
    toolDeclarations: tools,
    toolExecutor: async ({ parameters }) => {
      toolCalls++;
      return lookUp(parameters.order);
    },
    onEvent: (event) => {
      if (event === "turn_started") observedTurns++;
    },
    ...options,
  };
  return async () => {
    const result = await runConversation(
      [{ role: "user", content: PROMPT }],
      async () => turnOf(answers[modelCalls++]),
      everything,
    );
    const { messages, final_content: lastText = "" } = result;
    return { modelCalls, toolCalls, observedTurns, lastText, messages: messages.length - 1 };
  };
}

function turnOf(answer: Answer | undefined) {
  if (!answer?.call)
    return { content: answer?.text, tool_calls: [], usage: { prompt_tokens: 10, completion_tokens: 10 } };
  const { id, input } = answer.call;
  return {
    content: answer.text,
    tool_calls: [{ id, name: TOOL, parameters: JSON.parse(input) }],
    usage: { prompt_tokens: 10, completion_tokens: 10 },
  };
}
