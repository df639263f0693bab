// Promise: whoever is interested in one run follows the thread from there, and is told nothing of what came before.
import { expect, it } from "vitest";
import { says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase, type World } from "./databases.ts";
import { collect, committed } from "./following.ts";
import { heldModel } from "./held.ts";

async function threeRuns(newWorld: () => Promise<World>) {
  const world = await newWorld();
  const model = scriptedModel([says("One."), says("Two."), says("Three."), says("Four.")]);
  const holdfast = await world.open(agent({ slug: "desk", model }));
  const thread = await holdfast.threads.open("t", { agent: "desk" });
  for (const words of ["First.", "Second.", "Third."]) await thread.send(words);
  return { holdfast, thread };
}

eachDatabase((newWorld) => {
  it("a stream begins with the first event of its run, and goes on with those after it", async () => {
    const { thread } = await threeRuns(newWorld);
    // What is done between two runs belongs to none of them.
    await thread.editMessage(0, "The first.");
    await thread.wait();
    const all = await committed(thread);
    for (const run of [1, 2, 3]) {
      const told: string[] = [];
      const reading = new AbortController();
      for await (const event of thread.stream({ run, signal: reading.signal })) {
        if ("id" in event) told.push(event.id);
        if (told.at(-1) === all.at(-1)?.id) reading.abort();
      }
      const first = all.findIndex((event) => event.run === run);
      expect(all[first]?.type).toBe("run.started");
      expect(told).toEqual(all.slice(first).map(({ id }) => id));
    }
    expect(await collect(thread.stream({ run: 3, untilRest: true }))).toEqual(
      all.filter(({ run }) => run === 3 || run === 0),
    );
  });

  it("a run that has not begun is waited for", async () => {
    const { thread } = await threeRuns(newWorld);
    const reading = committed(thread, { run: 4 });
    await thread.send("Fourth.");
    expect(new Set((await reading).map(({ run }) => run))).toEqual(new Set([4]));
  });

  it("a reader that has seen a rest is let go where nothing was said since, if it wants to be", async () => {
    const { thread } = await threeRuns(newWorld);
    const all = await committed(thread);
    const untilRest = "at-once";
    const after = all.at(-1)?.id ?? "";
    expect(await collect(thread.stream({ after, untilRest }))).toEqual([]);
    // As does one that is told only what changes nothing about the rest.
    await thread.editMessage(0, "The first.");
    await thread.wait();
    const more = (await committed(thread, { after, untilRest })).map(({ type }) => type);
    expect(new Set(more)).toEqual(new Set(["message.superseded", "note"]));
    const middle = all[3]?.id ?? "";
    expect((await committed(thread, { after: middle, untilRest })).at(-1)?.type).toBe("note");
    // Speaking ends the rest, whoever has taken it in by then.
    const position = `${(await thread.status()).next_seq - 1}.999999999`;
    await thread.post("Fourth.");
    expect((await committed(thread, { after: position, untilRest })).map(({ type }) => type)).toContain("run.ended");
  });

  it.each([0, -1, 1.5, 2 ** 31, "1"])("%s is no run", async (run) => {
    const { thread } = await threeRuns(newWorld);
    const reading = collect(thread.stream({ run: run as number }));
    await expect(reading).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(collect(thread.stream({ run: 1, after: "0.0" }))).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("a thread rests when it waits for nobody but its users, and not while something waits for it", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const holdfast = await world.open(agent({ slug: "desk", model }));
    const thread = await holdfast.threads.open("t", { agent: "desk" });
    const isAtRest = async () => (await thread.standing()).isAtRest;
    expect(await isAtRest()).toBe(true);
    await holdfast.switches.set("agent", "desk", { off: true });
    await thread.post("Go.");
    expect(await thread.standing()).toMatchObject({ isAtRest: false, thread: { status: "idle" } });
    await holdfast.switches.set("agent", "desk", { off: false });
    const asked = await next();
    expect(await isAtRest()).toBe(false);
    asked.answer("Done.");
    await thread.wait();
    expect(await isAtRest()).toBe(true);
    const { id } = await thread.wake({ key: "again" });
    expect(await thread.wake({ key: "again" })).toEqual({ id });
    (await next()).answer("Done again.");
    expect(await thread.wait()).toMatchObject({ run: 2, final_content: "Done again." });
  });
});
