// The AI SDK's `generateText` with its own mock model, one tool and an observer of its steps.
import { generateText, isStepCount, jsonSchema, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { type Answer, DESCRIPTION, type Loop, lookUp, PARAMETERS, PROMPT, script } from "./workload.ts";

type ModelAnswer = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

export const aiSdk: Loop = {
  name: "AI SDK, observed",
  messagesPerCall: 2, // text and tool call in one, tool result
  prepare(turns) {
    const answers = script(turns);
    let modelCalls = 0;
    let toolCalls = 0;
    let observedTurns = 0;
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        // The mock keeps every prompt it is sent, which no provider does.
        model.doGenerateCalls.length = 0;
        return generated(answers[modelCalls++]);
      },
    });
    const look_up = tool({
      description: DESCRIPTION,
      // Without a validator of its own, so that nobody checks more than the others.
      inputSchema: jsonSchema<{ order: number; locale: string }>(structuredClone(PARAMETERS) as object),
      execute: async ({ order }) => {
        toolCalls++;
        return lookUp(order);
      },
    });
    return async () => {
      const { text, responseMessages } = await generateText({
        model,
        tools: { look_up },
        prompt: PROMPT,
        stopWhen: isStepCount(turns + 1),
        onStepEnd: () => {
          observedTurns++;
        },
      });
      return { modelCalls, toolCalls, observedTurns, lastText: text, messages: responseMessages.length };
    };
  },
};

function generated(answer: Answer | undefined): ModelAnswer {
  const usage = {
    inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 10, text: 10, reasoning: undefined },
  };
  const text = { type: "text", text: answer?.text ?? "" } as const;
  if (!answer?.call) return { content: [text], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
  const { id, input } = answer.call;
  return {
    content: [text, { type: "tool-call", toolCallId: id, toolName: "look_up", input }],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage,
    warnings: [],
  };
}
