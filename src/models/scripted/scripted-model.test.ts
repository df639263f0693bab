import { describe, expect, it } from "vitest";
import { runConversation } from "../../loop/run-conversation.ts";
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
});
