// Promise: a thread that is over for good says so. Whoever follows one that is terminated is told everything to the end of
// it, then that it was, and nothing more; and of one that is deleted, that it is.
import { describe, expect, it, onTestFinished } from "vitest";
import { says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { serve } from "../src/server/serve.ts";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase, onPostgres } from "./databases.ts";
import { collect, reader } from "./following.ts";
import { heldModel } from "./held.ts";

const talker = () => agent({ slug: "talker", model: scriptedModel([says("Hello.")]) });
const isTerminated = { type: "thread.terminated", at: expect.any(Number) };
const isDeleted = { type: "thread.deleted" };

eachDatabase((newWorld) => {
  describe("a thread that is terminated", () => {
    it("tells its readers what its run came to, that it was, and no more", async () => {
      const { model, next } = heldModel();
      const holdfast = await (await newWorld()).open(agent({ slug: "talker", model }));
      const thread = await holdfast.threads.open("t", { agent: "talker" });
      const [forEver, untilRest] = [collect(thread.stream()), collect(thread.stream({ untilRest: true }))];
      const sent = thread.send("Tell me");
      (await next()).say("Once upon");
      await thread.terminate();
      expect(await sent).toMatchObject({ status: "interrupted" });
      const told = await forEver;
      expect(told.slice(-2)).toMatchObject([{ type: "run.ended" }, isTerminated]);
      expect(told.filter(({ type }) => type === "thread.terminated")).toHaveLength(1);
      expect(await untilRest).toEqual(told);
    });

    it("tells it those who come afterwards, and those who wait for an idle one", async () => {
      const holdfast = await (await newWorld()).open(talker());
      const thread = await holdfast.threads.open("t", { agent: "talker" });
      const [following, waiting] = [collect(thread.stream()), collect(thread.stream({ untilRest: true }))];
      await thread.terminate();
      expect(await following).toEqual([isTerminated]);
      expect(await waiting).toEqual([isTerminated]);
      expect(await collect(thread.stream({ after: "now" }))).toEqual([isTerminated]);
      expect(await collect(thread.stream({ untilRest: "at-once" }))).toEqual([isTerminated]);
    });
  });

  it("a thread that is deleted tells its readers, also those that wait for it to rest", async () => {
    const holdfast = await (await newWorld()).open(talker());
    const thread = await holdfast.threads.open("t", { agent: "talker" });
    await thread.send("Hello");
    const following = reader(thread.stream());
    const waiting = reader(thread.stream({ after: "now", untilRest: true }));
    await following.next("run.ended");
    const told = [following.next(), waiting.next()];
    await holdfast.threads.delete(thread.id);
    expect(await Promise.all(told)).toEqual([isDeleted, isDeleted]);
    await expect(following.next()).rejects.toThrow("The stream has ended.");
    await expect(waiting.next()).rejects.toThrow("The stream has ended.");
  });

  it("a stream over HTTP ends with it, for those who follow and those who come afterwards", async () => {
    const holdfast = await (await newWorld()).open(talker(), { trust: { administrators: [1] } });
    const { token } = await holdfast.tokens.create({ agent: "visitor", owner_user_id: 1 });
    const server = await serve(holdfast, { port: 0 });
    onTestFinished(() => server.close());
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const ask = (method: string, path: string, body?: string) =>
      fetch(`${server.url}/threads${path}`, { method, headers, ...(body && { body }) });
    const open = async () =>
      JSON.parse(await (await ask("POST", "", JSON.stringify({ agent: "talker" }))).text()).id as string;
    const [one, other] = [await open(), await open()];
    const isAll = 'event: end\ndata: {"type":"stream.ended"}';

    const following = await ask("GET", `/${one}/stream`);
    expect((await ask("POST", `/${one}/terminate`)).status).toBe(200);
    for (const reading of [
      following,
      await ask("GET", `/${one}/stream`),
      await ask("GET", `/${one}/stream?until=rest`),
    ]) {
      const frames = (await reading.text()).split("\n\n").slice(1);
      expect(frames).toEqual([expect.stringMatching(/^data: {"type":"thread.terminated","at":\d+}$/), isAll, ""]);
    }

    const left = await ask("GET", `/${other}/stream`);
    expect((await ask("DELETE", `/${other}`)).status).toBe(200);
    expect((await left.text()).split("\n\n").slice(1)).toEqual(['data: {"type":"thread.deleted"}', isAll, ""]);
    expect((await ask("GET", `/${other}/stream`)).status).toBe(404);
  });
});

onPostgres((newWorld) => {
  it("tells readers in another process, too", async () => {
    const world = await newWorld();
    const here = await world.open(talker());
    const there = await world.open(talker(), { runs: false });
    const [ended, deleted] = [
      await here.threads.open("ended", { agent: "talker" }),
      await here.threads.open("deleted", { agent: "talker" }),
    ];
    const [following, other] = [ended, deleted].map(async ({ id }) => collect((await there.threads.get(id)).stream()));
    await ended.terminate();
    await here.threads.delete(deleted.id);
    expect(await following).toEqual([isTerminated]);
    expect(await other).toEqual([isDeleted]);
  });
});
