// Promise: whoever follows a thread to its rest is told everything until then, and is let go there.
import { expect, it } from "vitest";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase } from "./databases.ts";
import { heldModel } from "./held.ts";

eachDatabase((newWorld) => {
  it("a stopped thread that a user speaks to does not rest, whoever looks before it has begun", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const holdfast = await world.open(agent({ slug: "desk", model }));
    const thread = await holdfast.threads.open("t", { agent: "desk" });
    await thread.post("Go.");
    await next();
    await thread.stop();

    // It is not taken up before everything that there is was read.
    await holdfast.switches.set("agent", "desk", { off: true });
    await thread.post("Go on.");
    const seen: string[] = [];
    for await (const { type } of thread.stream({ untilRest: true })) {
      seen.push(type);
      if (type !== "run.ended" || seen.filter((each) => each === type).length > 1) continue;
      await holdfast.switches.set("agent", "desk", { off: false });
      void next().then(({ answer }) => answer("Done."));
    }
    expect(seen.filter((type) => type.startsWith("run."))).toEqual([
      "run.started",
      "run.ended",
      "run.started",
      "run.ended",
    ]);
  });
});
