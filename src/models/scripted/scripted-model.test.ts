import { describe, expect, it } from "vitest";
import type { Message } from "../../contracts/conversation/message.ts";
import { runConversation } from "../../loop/run-conversation.ts";
import type { Model, ModelDelta } from "../model.ts";
import { calls, callsTool, says, scriptedModel } from "./scripted-model.ts";

const question = [{ role: "user", content: "How warm is it in Oslo and in Rome?" }];
const weather = {
  maxTurns: 4,
  toolDeclarations: [{ name: "weather/now", source: "weather", description: "The temperature in a city." }],
  toolExecutor: ({ parameters }: { parameters: object }) => ({ ...parameters, celsius: 20 }),
};

describe("the scripted model", () => {
  it("gives its answers in order, and each model its own", async () => {
    const script = [callsTool("weather/now", { city: "Oslo" }), says("20 degrees.")];
    for (const model of [scriptedModel(script), scriptedModel(script)]) {
      const { messages, final_content } = await runConversation(question, model, weather);
      expect(messages.map(({ type }) => type)).toEqual(["text", "tool_call", "tool_result", "text"]);
      expect(final_content).toBe("20 degrees.");
    }
  });

  it("says something and calls several tools in one answer", async () => {
    const both = calls(
      says("Let me look.", { usage: { total_tokens: 9 } }),
      callsTool("weather/now", { city: "Oslo" }),
      callsTool("weather/now", { city: "Rome" }, { id: "rome" }),
    );
    const result = await runConversation(question, scriptedModel([both, says("20 each.")]), weather);
    expect(result.messages.map(({ content, type }) => (type === "text" ? content : type))).toEqual([
      ...["How warm is it in Oslo and in Rome?", "Let me look."],
      ...["tool_call", "tool_result", "tool_call", "tool_result", "20 each."],
    ]);
    expect(result.tool_events.map(({ tool_call_id }) => tool_call_id)).toContain("rome");
    expect(result.usage).toMatchObject({ total_tokens: 9 });
  });

  it("answers in a run without tools too", async () => {
    const result = await runConversation(question, scriptedModel([says("I cannot know.")]));
    expect(result.final_content).toBe("I cannot know.");
    expect(result.completed).toBe(true);
  });

  it("fails clearly when it is asked more often than its script has answers", async () => {
    const model = scriptedModel([callsTool("weather/now", { city: "Oslo" })]);
    const { run_outcome, failure } = await runConversation(question, model, weather);
    expect(run_outcome.status).toBe("failed");
    expect(failure).toMatchObject({
      code: "script_ended",
      message: "script_ended: There is no answer 2 in a script of 1.",
    });
    expect(() => scriptedModel([])([])).toThrow("There is no answer 1 in a script of 0.");
  });

  it("gives the answer of the step it is asked for, as often as it is asked for it", () => {
    const model: Model = scriptedModel([callsTool("weather/now"), says("20 degrees.")]);
    const ask = (step: number) => model([], {}, { tools: {}, step });
    expect([ask(1), ask(1), ask(0)]).toEqual([
      { content: "20 degrees.", tool_calls: [] },
      { content: "20 degrees.", tool_calls: [] },
      { content: "", tool_calls: [{ name: "weather/now", parameters: {} }] },
    ]);
    expect(() => ask(2)).toThrow("There is no answer 3 in a script of 2.");
  });

  it("streams its words before it answers", () => {
    for (const content of ["20 degrees  in\nOslo.", " and ", "one", ""]) {
      const deltas: ModelDelta[] = [];
      const model = scriptedModel([says(content)]);
      model([], {}, { step: 0, onDelta: (delta) => deltas.push(delta) });
      expect(deltas.map(({ text }) => text).join("")).toBe(content);
      expect(deltas).toHaveLength(content.split(/\s+/).filter((word) => word !== "").length);
    }
  });

  it("makes an answer of what it is shown where the script says how", async () => {
    const echo = (messages: readonly Message[]) => says(`You said: ${messages.at(-1)?.content}`);
    const { final_content } = await runConversation(question, scriptedModel([echo]), weather);
    expect(final_content).toBe("You said: How warm is it in Oslo and in Rome?");

    const second = scriptedModel([
      async (_messages, { attempt }) => {
        if (attempt === 1) throw new Error("busy");
        return says("Here I am.");
      },
    ]);
    await expect(second([], {}, { step: 0, attempt: 1 })).rejects.toThrow("busy");
    expect(await second([], {}, { step: 0, attempt: 2 })).toEqual({ content: "Here I am.", tool_calls: [] });
  });
});
