// Promise: a value that is nested too deep to be read again is refused where it comes in. Nothing of it is stored, and
// the thread goes on as if it had never come.
import { expect, it } from "vitest";
import type { Json, JsonMap } from "../src/contracts/json.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";

/** A list in a list in a list. */
function nested(depth: number): Json {
  return depth === 0 ? 1 : [nested(depth - 1)];
}

/** Values that may be handed around, and could not be read again from where they would be stored. */
const tooDeep = [500, 505, 510, 511];
const inMessage = (depth: number) => ({ content: "Deep.", metadata: { deep: nested(depth) } });
const refused = { code: "not_json" };

eachDatabase((newWorld) => {
  it("holds for messages, queued tools and edits", async () => {
    const world = await newWorld();
    const model = scriptedModel([says("Hi."), says("Still here.")]);
    const holdfast = await world.open(agent({ slug: "clerk", model }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });
    await thread.send("Hello.");
    const before = await world.everything();

    for (const depth of tooDeep) {
      await expect(thread.send(inMessage(depth)), `send ${depth}`).rejects.toMatchObject(refused);
      await expect(thread.queueMessage(inMessage(depth)), `queue ${depth}`).rejects.toMatchObject(refused);
      await expect(thread.editMessage(0, inMessage(depth)), `edit ${depth}`).rejects.toMatchObject(refused);
      const deepTool = thread.queueTool("shop/note", { deep: nested(depth) });
      await expect(deepTool, `tool ${depth}`).rejects.toMatchObject(refused);
    }

    expect(await world.everything()).toBe(before);
    expect(await thread.send("Are you there?")).toMatchObject({ status: "completed", final_content: "Still here." });
  });

  it("takes what is deep and not too deep, all the way to the model and back", async () => {
    const world = await newWorld();
    const deep = nested(470);
    const got: unknown[] = [];
    const note = tool({
      name: "shop/note",
      description: "Notes.",
      execute: (input) => {
        got.push(input);
        return deep;
      },
    });
    const model = scriptedModel([says("Hi."), says("Noted.")]);
    const holdfast = await world.open(agent({ slug: "clerk", model, tools: [note] }));
    const thread = await holdfast.threads.open("t", { agent: "clerk" });

    expect(await thread.send(inMessage(470))).toMatchObject({ status: "completed" });
    await thread.queueTool("shop/note", { deep });

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Noted." });
    expect(got).toEqual([{ deep }]);
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "success" }]);
  });

  it("is an error of the tool that queues such a thing, and what else it did is told", async () => {
    const world = await newWorld();
    const clerks = tooDeep.map((depth) => {
      const queues = tool({
        name: "shop/queues",
        description: "Queues.",
        execute: (_input, { queueMessage }) => queueMessage(inMessage(depth)),
      });
      const model = scriptedModel([callsTool("shop/queues"), says("Done.")]);
      return agent({ slug: `clerk-${depth}`, model, tools: [queues] });
    });
    const holdfast = await world.open(clerks);

    for (const { slug } of clerks) {
      const thread = await holdfast.threads.open(slug, { agent: slug });
      expect(await thread.send("Queue."), slug).toMatchObject({ status: "completed", final_content: "Done." });
      expect(await thread.calls()).toMatchObject([{ phase: "settled" }]);
      const [result] = (await thread.messages()).flatMap(({ message }) =>
        message.type === "tool_result" ? [message] : [],
      );
      expect(result?.payload).toMatchObject({ success: false, error: expect.stringContaining("nested too deep") });
    }
  });

  it("lets no thread get stuck, whatever a model, a tool or a client comes with", async () => {
    const world = await newWorld();
    const clerks = tooDeep.flatMap((depth) => {
      const deep = { deep: nested(depth) };
      const note = tool({ name: "shop/note", description: "Notes.", execute: () => deep });
      const ask = tool({ name: "client/ask", description: "Asks." });
      const of = (what: string, name: string, parameters: JsonMap) => {
        const model = scriptedModel([callsTool(name, parameters), says("Done.")]);
        return { deep, clerk: agent({ slug: `${what}-${depth}`, model, tools: [note, ask] }) };
      };
      return [of("model", "shop/note", deep), of("tool", "shop/note", {}), of("client", "client/ask", {})];
    });
    const holdfast = await world.open(clerks.map(({ clerk }) => clerk));

    for (const { clerk, deep } of clerks) {
      const thread = await holdfast.threads.open(clerk.slug, { agent: clerk.slug });
      const { waiting_for } = await thread.send("Note.");
      const submitted = waiting_for && holdfast.requests.submit(waiting_for.request_id, { result: deep });
      if (waiting_for) await submitted?.catch((thrown: unknown) => expect(thrown).toMatchObject(refused));
      if (waiting_for && (await holdfast.requests.get(waiting_for.request_id)).status === "pending") continue;
      const outcome = await thread.wait();
      expect(["completed", "failed"], clerk.slug).toContain(outcome?.status);
      expect((await thread.status()).status, clerk.slug).toBe("idle");
    }
  });
});
