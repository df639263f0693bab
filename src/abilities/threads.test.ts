import { describe, expect, it } from "vitest";
import { type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import * as principals from "../contracts/trust/principal.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { entryKey } from "./caller-identity.ts";
import type { StreamEvent } from "./follow.ts";

const ANN = 7;
const annHerself = principals.fromArray({
  ...{ acting_user_id: ANN, effective_agent_id: "any", auth_source: "user", request_context: "rest" },
});
const BEN = 8;

async function shop(): Promise<DeskWorld> {
  const model = scriptedModel(["One.", "Two.", "Three."].map((words) => says(words)));
  const world = await deskWorld({ agents: [agent({ slug: "shop", model })] });
  await world.grant("shop", ANN, BEN);
  return world;
}

async function typesOf(events: AsyncIterable<StreamEvent>): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { type } of events) types.push(type);
  return types;
}

describe("a thread", () => {
  it("is found by the key of whoever has opened it, and by nobody else's", async () => {
    const world = await shop();
    const [ann, ben] = [world.as(ANN), world.as(BEN)];
    const missing = { code: "thread_not_found" };
    expect(await ann("holdfast/find-thread", { key: "order/7" })).toMatchObject(missing);
    expect(await world.holdfast.threads.list()).toEqual([]);
    const { id, key } = await ann("holdfast/open-thread", { agent: "shop", key: "order/7" });
    expect(await ann("holdfast/find-thread", { key: "order/7" })).toMatchObject({ id, status: "idle", at_rest: true });
    expect(await ben("holdfast/find-thread", { key: "order/7" })).toMatchObject(missing);
    expect(await ben("holdfast/find-thread", { key })).toMatchObject(missing);
    expect(await world.holdfast.threads.find(key)).toMatchObject({ id, key });
    expect(await world.holdfast.threads.find("\0")).toBeUndefined();
  });

  it("is followed after the place where it was before a message, however often that is sent", async () => {
    const ann = (await shop()).as(ANN);
    const { id: thread_id } = await ann("holdfast/open-thread", { agent: "shop" });
    const send = (content: string, key: string) => ann("holdfast/send-message", { thread_id, content }, key);
    const first = await send("First.", "a");
    expect(first).toMatchObject({ status: "queued", position: null, run: null });
    await typesOf(await ann("holdfast/follow-thread", { thread_id, until_rest: true }));
    const second = await send("Second.", "b");
    const after = second.position;
    const types = await typesOf(await ann("holdfast/follow-thread", { thread_id, after, until_rest: true }));
    expect(types.filter((type) => type.startsWith("run."))).toEqual(["run.started", "run.ended"]);
    expect(await send("Second.", "b")).toEqual(second);
    const { position, at_rest } = await ann("holdfast/get-thread", { thread_id });
    expect(at_rest).toBe(true);
    expect(
      await typesOf(await ann("holdfast/follow-thread", { thread_id, after: position, until_rest: true })),
    ).toEqual([]);
    const both = await ann("holdfast/follow-thread", { thread_id, after: position, run: 1 });
    expect(both).toMatchObject({ code: "invalid_input" });
  });

  it("knows a message that was left before by its run, also when what was told of it is forgotten", async () => {
    const world = await shop();
    const ann = world.as(ANN);
    const { id: thread_id } = await ann("holdfast/open-thread", { agent: "shop" });
    const thread = await world.holdfast.threads.get(thread_id);
    const { id } = await thread.post("First.", { key: entryKey(annHerself, "a") });
    await thread.wait();
    const again = await ann("holdfast/send-message", { thread_id, content: "First." }, "a");
    expect(again).toMatchObject({ id, run: 1 });
  });

  it("goes on without being waited for", async () => {
    const ann = (await shop()).as(ANN);
    const { id: thread_id } = await ann("holdfast/open-thread", { agent: "shop" });
    await ann("holdfast/send-message", { thread_id, content: "First.", wait: true });
    const { position, ...queued } = await ann("holdfast/continue-thread", { thread_id, wait: false });
    expect(queued).toEqual({ status: "queued", thread_id, id: expect.any(String) });
    await typesOf(await ann("holdfast/follow-thread", { thread_id, after: position, until_rest: true }));
    expect(await ann("holdfast/get-run", { thread_id, run: "2" })).toMatchObject({
      outcome: { final_content: "Two." },
    });
  });

  it("tells its runs in pages, and each by its number to those who reach the thread", async () => {
    const world = await shop();
    const ann = world.as(ANN);
    const { id: thread_id } = await ann("holdfast/open-thread", { agent: "shop" });
    for (const content of ["1", "2", "3"]) await ann("holdfast/send-message", { thread_id, content, wait: true });
    const page = async (more: object) => {
      const { runs, has_more } = await ann("holdfast/list-runs", { thread_id, ...more });
      return [runs.map(({ run }: { run: number }) => run), has_more];
    };
    expect([await page({}), await page({ limit: "2" }), await page({ after: "2", limit: "2" })]).toEqual([
      [[1, 2, 3], false],
      [[1, 2], true],
      [[3], false],
    ]);
    expect(await ann("holdfast/get-run", { thread_id, run: 2 })).toMatchObject({ run: 2, status: "completed" });
    expect(await ann("holdfast/get-run", { thread_id, run: 4 })).toMatchObject({ code: "run_not_found" });
    expect(await ann("holdfast/get-run", { thread_id, run: 2 ** 31 })).toMatchObject({ code: "invalid_input" });
    expect(await world.as(BEN)("holdfast/get-run", { thread_id, run: 2 })).toMatchObject({ code: "thread_not_found" });
  });

  it("is exported in parts that make up the whole", async () => {
    const world = await shop();
    const ann = world.as(ANN);
    const { id: thread_id } = await ann("holdfast/open-thread", { agent: "shop" });
    for (const content of ["1", "2", "3"]) await ann("holdfast/send-message", { thread_id, content, wait: true });
    const whole = await ann("holdfast/export-thread", { thread_id });
    expect(whole).toEqual(JSON.parse(JSON.stringify(await (await world.holdfast.threads.get(thread_id)).export())));
    expect(whole).not.toHaveProperty("next");
    const lists = ["events", "messages", "runs", "calls", "requests"] as const;
    const parts: (typeof whole)[] = [];
    for (let after: object = {}; ; ) {
      const part = await ann("holdfast/export-thread", { thread_id, limit: "2", ...after });
      parts.push(part);
      expect(part.events.length).toBeLessThanOrEqual(2);
      if (part.next === undefined) break;
      after = { after: part.next };
    }
    expect(parts.length).toBeGreaterThan(2);
    for (const list of lists)
      expect(
        parts.flatMap((part) => part[list]),
        list,
      ).toEqual(whole[list]);
    expect(await ann("holdfast/export-thread", { thread_id, after: 10_000 })).toMatchObject({
      events: [],
      messages: [],
    });
  });

  it("tells its messages from the newest on, too", async () => {
    const ann = (await shop()).as(ANN);
    const { id: thread_id } = await ann("holdfast/open-thread", { agent: "shop" });
    for (const content of ["1", "2"]) await ann("holdfast/send-message", { thread_id, content, wait: true });
    const page = async (more: object) => {
      const { messages, has_more } = await ann("holdfast/list-messages", { thread_id, order: "desc", ...more });
      return [messages.map(({ seq }: { seq: number }) => seq), has_more];
    };
    expect([await page({}), await page({ limit: 3 }), await page({ after: 1, limit: 3 })]).toEqual([
      [[3, 2, 1, 0], false],
      [[3, 2, 1], true],
      [[0], false],
    ]);
  });
});
