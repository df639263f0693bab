// U+0000 is a character like any other to a model and to code, and one that no text of PostgreSQL may hold: wherever it comes
// from, the thread goes on.
import { expect, it } from "vitest";
import { callsTool } from "../../src/models/scripted/scripted-model.ts";
import { effect } from "../../src/threads/definitions/effect.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase } from "../databases.ts";
import { stored } from "./listed.ts";
import { openHelper } from "./open-agents.ts";
import { talker } from "./talker.ts";
import { actor, creates, finishes, lead, onlyChild, reports, staying, worker } from "./team.ts";

eachDatabase((newWorld) => {
  it("[EFF-11] an effect that fails with one in its words has failed, and is not run again", async () => {
    const world = await newWorld();
    let ran = 0;
    const fails = effect({
      name: "fails",
      description: "Fails.",
      handler() {
        ran++;
        throw new Error("bad \0 byte");
      },
    });
    const thread = await openHelper(world, { model: talker("Hi.").model }, { options: { effects: [fails] } });
    await (await thread.state()).scheduleEffect("fails");

    while ((await thread.effects.list({ status: "failed" })).length === 0) await new Promise(setImmediate);

    expect([ran, await thread.effects.list()]).toMatchObject([1, [{ error: "bad  byte", attempts: 1 }]]);
    expect(await thread.send("Hello")).toMatchObject({ final_content: "Hi." });
    expect(world.takeErrors()).toEqual([expect.objectContaining({ message: "bad \0 byte" })]);
  });

  it("[SUB-16] a child that tells with one how it stands is shown without it", async () => {
    const world = await newWorld();
    const seen: string[] = [];
    const child = actor(reports("half\0way"), async () => {
      seen.push((await onlyChild(holdfast, thread)).status);
      return finishes("Done.");
    });
    const holdfast = await world.open([
      lead(actor(creates(), "Done.").model, [staying("worker")]),
      worker(child.model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Done." });

    expect(seen).toEqual(["halfway"]);
  });

  it("a file with one in its name or its type is refused, and nothing of it is stored", async () => {
    const world = await newWorld();
    const thread = await openHelper(world, { model: talker("Hi.").model });
    const state = await thread.state();
    const file = { name: "a\0b.txt", mimeType: "text/plain", data: "aGk=" };
    const refused = expect.objectContaining({ code: "invalid_argument" });

    await expect(state.queueMessage({ role: "user", content: "Look.", attachments: [file] })).rejects.toEqual(refused);
    await expect(state.writeFile("/x", "y", { mimeType: "text/\0plain" })).rejects.toEqual(refused);
    await expect(state.writeFile("/x\0", "y")).rejects.toMatchObject({ code: expect.any(String) });

    expect(await world.sql("select * from files")).toEqual([]);
    expect(await thread.send("Hello")).toMatchObject({ final_content: "Hi." });
  });

  it("a file with one in its name is an error of the tool that returns it, which is not run again", async () => {
    const world = await newWorld();
    let ran = 0;
    const make = tool({
      name: "make",
      description: "Makes a file.",
      execute() {
        ran++;
        return { status: "success", attachments: [{ name: "a\0b.txt", mimeType: "text/plain", data: "aGk=" }] };
      },
    });
    const thread = await openHelper(world, { model: talker(callsTool("make"), "Done.").model, tools: [make] });

    expect(await thread.send("Go")).toMatchObject({ status: "completed", final_content: "Done." });

    expect([ran, (await stored(thread))[2]]).toMatchObject([1, { role: "tool", tool_status: "error" }]);
  });
});
