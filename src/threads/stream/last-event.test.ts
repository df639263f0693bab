import { expect, it } from "vitest";
import { eachDatabase } from "../../../test/databases.ts";
import { heldModel } from "../../../test/held.ts";
import { agent } from "../agent.ts";
import type { Host } from "../host.ts";
import { lastEventOf } from "./last-event.ts";

eachDatabase((newWorld) => {
  it("a terminated thread's stream ends after the commit that ended its run, also when that came between two reads", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const holdfast = await world.open(agent({ slug: "talker", model }));
    const thread = await holdfast.threads.open("t", { agent: "talker" });
    const sent = thread.send("Tell me");
    await next();
    const stores = await world.stores();
    const before = await stores.threads.get(thread.id);
    if (!before) throw new Error("There is no thread.");
    const read = before.next_seq - 1;
    await thread.terminate();
    await sent;
    const terminated = await stores.threads.get(thread.id);
    if (!terminated) throw new Error("There is no thread.");
    const seenTooEarly = { ...terminated, next_seq: before.next_seq };
    const host = { stores } as Host;
    expect(await lastEventOf(host, seenTooEarly, read)).toBeUndefined();
    expect(await lastEventOf(host, terminated, terminated.next_seq - 1)).toMatchObject({ type: "thread.terminated" });
  });
});
