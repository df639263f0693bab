// A thread that is handed over to another agent: that one acts at once, and the history stays.
import { expect, it } from "vitest";
import { calls, callsTool, says } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import type { ToolEntryInput } from "../../src/threads/definitions/tool-entry.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { heldModel } from "../held.ts";
import { openMortal } from "../mortal-runtime.ts";
import { listed } from "./listed.ts";
import { helperOf, type SideOf, sideOf } from "./open-agents.ts";
import { talker } from "./talker.ts";

const peek = tool({ name: "peek", description: "Looks.", execute: () => "seen" });

function expertOf(given: SideOf) {
  return agent({ name: "expert", sideA: sideOf("expertise", given) });
}

eachDatabase((newWorld) => {
  it("[AT-1] answers the call, runs what is left of the step, and lets the new agent act at once", async () => {
    const first = talker(calls(says("One moment."), callsTool("expert"), callsTool("peek")), "Never.");
    const second = talker("I know.", "Still me.");
    const world = await newWorld();
    const { threads } = await world.open([
      ...[helperOf({ model: first.model, tools: ["expert", peek] }), expertOf({ model: second.model })],
    ]);
    const thread = await threads.open("c", { agent: "helper" });

    expect(await thread.send("Help")).toMatchObject({ final_content: "I know.", stop_code: "stop_on_response" });
    expect(await thread.send("And?")).toMatchObject({ final_content: "Still me." });

    expect(first.asked).toHaveLength(1);
    expect(second.asked[0]?.options.instructions).toBe("You are the expertise.");
    expect(second.asked[0]?.lines).toEqual([
      ...["user: Help", "assistant: One moment.", "call expert", 'result expert: "complete"'],
      ...["call peek", 'result peek: "seen"'],
    ]);
    expect(await listed(thread)).toEqual([
      ...["user: Help", "assistant: One moment. [expert] [peek]", "success expert: complete", "success peek: seen"],
      ...["assistant: I know.", "user: And?", "assistant: Still me."],
    ]);
  });

  it("[AT-2] keeps the new agent and the first one across a restart, and finds the thread by either", async () => {
    const first = talker(callsTool("expert"));
    const second = talker("I know.", "Still me.");
    const world = await newWorld();
    const agents = () => [...[helperOf({ model: first.model, tools: ["expert"] }), expertOf({ model: second.model })]];
    const before = await world.open(agents());
    const thread = await before.threads.open("c", { agent: "helper" });
    await thread.send("Help");
    await before.close();

    const { threads } = await world.open(agents());
    const again = await threads.open("c", { agent: "helper" });

    expect(await again.status()).toMatchObject({ id: thread.id, agent: "expert", origin_agent: "helper" });
    expect(await again.send("And?")).toMatchObject({ final_content: "Still me." });
    expect((await again.state()).agentId).toBe("expert");
  });

  it("[AT-2, AT-5] takes the arguments of the new agent's prompt, for its system prompt and its first message", async () => {
    const first = talker(callsTool("expert", { topic: 7 }), callsTool("expert", { topic: "rain", question: "Why?" }));
    const second = talker("Because.");
    const world = await newWorld();
    const entry: ToolEntryInput = { name: "expert", initUserMessageProperty: "question" };
    const expert = expertOf({
      model: second.model,
      prompt: ["You know ", { type: "variable", name: "topic" }],
      requiredSchema: {
        type: "object",
        properties: { topic: { type: "string" }, question: { type: "string" } },
        required: ["topic"],
      },
    });
    const { threads } = await world.open([helperOf({ model: first.model, tools: [entry] }), expert]);
    const thread = await threads.open("c", { agent: "helper" });

    expect(await thread.send("Help")).toMatchObject({ final_content: "Because." });

    expect(Object.values(first.asked[0]?.options.tools ?? {})).toMatchObject([
      { parameters: { properties: { topic: { type: "string" } }, required: ["topic"] } },
    ]);
    expect(second.asked[0]?.options.instructions).toBe("You know rain");
    expect((await listed(thread)).slice(-2)).toEqual(["user: Why?", "assistant: Because."]);
  });

  it("[AT-3, SUB-22] starts what comes with the new agent once it is active", async () => {
    const first = talker(callsTool("expert"));
    const second = talker("I know.");
    const scribe = agent({
      ...{ name: "scribe", type: "dual_ai", exposeAsTool: true, toolDescription: "Writes." },
      ...{
        sideA: sideOf("scribe_a", { model: talker("a").model }),
        sideB: sideOf("scribe_b", { model: talker("b").model }),
      },
      maxSessionTurns: 1,
    });
    const world = await newWorld();
    const { threads } = await world.open([
      helperOf({ model: first.model, tools: ["expert"] }),
      expertOf({
        model: second.model,
        tools: [{ name: "scribe", blocking: false, immediate: true, resumable: { receives_messages: "side_a" } }],
      }),
      scribe,
    ]);
    const thread = await threads.open("c", { agent: "helper" });
    expect(await thread.children()).toEqual([]);

    await thread.send("Help");

    expect(await thread.children()).toMatchObject([{ name: "scribe" }]);
    expect(second.asked[0]?.options.tools).toHaveProperty(["standard/subagent_message"]);
  });

  it("[STOP-19] comes before a forced turn and a stop rule, and counts as no turn", async () => {
    const both = tool({
      name: "both",
      description: "Hands over and forces.",
      execute: (_input, { state }) => {
        state.runAgent("expert");
        state.execution?.forceTurn("b");
        return "both";
      },
    });
    const first = talker(callsTool("both"));
    const second = talker("I know.");
    const world = await newWorld();
    const { threads } = await world.open([
      helperOf({ model: first.model, tools: [both], rules: { stopTool: "both" } }),
      expertOf({ model: second.model }),
    ]);
    const thread = await threads.open("c", { agent: "helper" });

    expect(await thread.send("Help")).toMatchObject({ final_content: "I know." });
    expect(await thread.status()).toMatchObject({ agent: "expert" });
  });

  it("goes on with the new agent when the process dies while that one answers", async () => {
    const world = await newWorld();
    const first = talker(callsTool("expert"));
    const { model, next } = heldModel();
    const agents = () => [helperOf({ model: first.model, tools: ["expert"] }), expertOf({ model })];
    const mortal = await openMortal(world, agents());
    const thread = await mortal.threads.open("c", { agent: "helper" });
    thread.send("Help").catch(() => undefined);
    await next();
    await mortal.die();

    const { threads } = await world.open(agents());
    const again = await next();
    again.answer("I know.");

    expect(await (await threads.get(thread.id)).wait()).toMatchObject({ final_content: "I know." });
    expect(again.options.instructions).toBe("You are the expertise.");
    expect(first.asked).toHaveLength(1);
    expect(await listed(await threads.get(thread.id))).toEqual([
      ...["user: Help", "assistant:  [expert]", "success expert: complete", "assistant: I know."],
    ]);
  });

  it("[AT-2, AT-5] goes on in a fork with what the thread was handed over with", async () => {
    const schema = { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] };
    const second = talker("I know.", "Here too.");
    const world = await newWorld();
    const expert = expertOf({
      model: second.model,
      prompt: ["You know all about ", { type: "variable", name: "topic" }],
      requiredSchema: schema,
    });
    const first = talker(callsTool("expert", { topic: "the safe" }));
    const { threads } = await world.open([helperOf({ model: first.model, tools: ["expert"] }), expert]);
    const thread = await threads.open("c", { agent: "helper" });
    await thread.send("Help");

    const fork = await thread.fork("fork");

    expect(await fork.status()).toMatchObject({ agent: "expert" });
    expect(await fork.send("And here?")).toMatchObject({ status: "completed", final_content: "Here too." });
    expect(second.asked.map(({ options }) => options.instructions)).toEqual([
      ...["You know all about the safe", "You know all about the safe"],
    ]);
    const kept = await world.sql("select value from thread_values");
    expect(kept).toHaveLength(2);
    expect(JSON.stringify(kept)).not.toContain("the safe");
  });

  it("refuses to hand over to an agent that there is not", async () => {
    const nowhere = tool({
      name: "nowhere",
      description: "Hands over.",
      execute: (_input, { state }) => {
        state.runAgent("nobody");
        return "gone";
      },
    });
    const first = talker(callsTool("nowhere"), "Still here.");
    const world = await newWorld();
    const { threads } = await world.open(helperOf({ model: first.model, tools: [nowhere] }));
    const thread = await threads.open("c", { agent: "helper" });

    expect(await thread.send("Help")).toMatchObject({ final_content: "Still here." });
    expect((await listed(thread))[2]).toMatch(/^error nowhere: .*nobody/);
  });
});
