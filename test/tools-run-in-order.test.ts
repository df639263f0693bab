// The calls of an answer run one after another, each with exactly one result, whatever becomes of it.
import { expect, it } from "vitest";
import { z } from "zod";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { heldModel, heldTool, inShort } from "./held.ts";

const named = (name: string) => tool({ name, description: "Says its name.", execute: () => name });

const failing = tool({
  name: "shop/failing",
  description: "Fails.",
  execute: () => {
    throw new Error("No such shelf.");
  },
});

eachDatabase((newWorld) => {
  it("begins a call only when the one before has its result", async () => {
    const world = await newWorld();
    const held = ["shop/a", "shop/b", "shop/c"].map((name) => heldTool({ name }));
    const model = scriptedModel([
      calls(...["shop/a", "shop/b", "shop/c"].map((name) => callsTool(name))),
      (messages) => says(inShort(messages).join("; ")),
    ]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: held.map(({ tool }) => tool) }));
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Go");
    for (const [index, { next }] of held.entries()) {
      const call = await next();
      expect(held.slice(index + 1).map(({ count }) => count())).toEqual(held.slice(index + 1).map(() => 0));
      expect((await thread.calls()).map(({ phase }) => phase)).toEqual([
        ...held.slice(0, index).map(() => "settled"),
        "begun",
      ]);
      call.answer(index);
    }

    expect(await sent).toMatchObject({
      final_content:
        "user: Go; call shop/a; result shop/a: 0; call shop/b; result shop/b: 1; call shop/c; result shop/c: 2",
    });
  });

  it("goes on after a tool that fails, that there is not, or that was called wrongly, and tells the model", async () => {
    const world = await newWorld();
    const strict = tool({
      name: "shop/strict",
      description: "Wants two numbers.",
      inputSchema: z.object({ order: z.number(), cents: z.number() }),
      execute: () => "done",
    });
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [failing, strict, named("shop/last")] }));
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Go");
    (await asked()).answer(
      calls(
        callsTool("shop/failing"),
        callsTool("shop/nowhere"),
        callsTool("shop/strict", { order: "seven", cents: "five" }),
        callsTool("shop/last"),
      ),
    );
    const second = await asked();
    second.answer("I see.");

    expect(await sent).toMatchObject({ status: "completed", final_content: "I see." });
    expect(second.shown.map((line) => line.split(":")[0])).toEqual([
      ...["user", "call shop/failing", "result shop/failing", "call shop/nowhere", "result shop/nowhere"],
      ...["call shop/strict", "result shop/strict", "call shop/last", "result shop/last"],
    ]);
    expect(second.shown.at(-1)).toBe('result shop/last: "shop/last"');
    const [failed, , wrong] = second.messages.filter(({ type }) => type === "tool_result");
    expect(JSON.stringify(failed?.payload)).toContain("No such shelf.");
    expect(JSON.stringify(wrong?.payload)).toMatch(/order.*cents/);
  });

  it("asks the model again when it has called a tool, also when it said something with it", async () => {
    const world = await newWorld();
    const model = scriptedModel([calls(says("Let me look."), callsTool("shop/peek")), says("It is there.")]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [named("shop/peek")] }));
    const thread = await threads.open("c", { agent: "shop" });

    expect(await thread.send("Look")).toMatchObject({ final_content: "It is there.", turn_count: 2 });
    expect(inShort((await thread.messages()).map(({ message }) => message))).toEqual([
      ...["user: Look", "assistant: Let me look.", "call shop/peek", 'result shop/peek: "shop/peek"'],
      "assistant: It is there.",
    ]);
  });

  it("asks a model that always calls tools as often as the agent allows, and not once more", async () => {
    const world = await newWorld();
    let asked = 0;
    const model = () => callsTool("shop/peek", { time: ++asked });
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [named("shop/peek")], maxTurns: 2 }));
    const thread = await threads.open("c", { agent: "shop" });

    await thread.send("Go");

    expect(asked).toBe(2);

    expect((await thread.status()).status).toBe("idle");
    await thread.send("Go on");
    expect(asked).toBe(4);
  });
});
