import { beforeEach, describe, expect, it } from "vitest";
import { withDriver } from "../../test/changed-driver.ts";
import { type Calls, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import type { SqlDriver } from "../backend/sql-driver.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { calls, callsTool, says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { tool } from "../threads/tool.ts";

describe("the operations that have a tool run", () => {
  let world: DeskWorld;
  let ann: Calls;
  let thread_id: string;
  let ran: unknown[];

  beforeEach(async () => {
    ran = [];
    const runs = (name: string, more: object = {}) =>
      tool({ name, description: "Runs.", execute: (input) => `ran ${ran.push(input)}`, ...more });
    const shop = agent({
      slug: "shop",
      model: scriptedModel(Array.from({ length: 5 }, () => says("I see."))),
      tools: [
        runs("shop/peek"),
        runs("shop/refund", { actionPolicy: "preview" }),
        runs("shop/sell", { actionPolicy: "forbidden" }),
      ],
    });
    world = await deskWorld({ agents: [shop] });
    await world.grant("shop", 7, 8);
    ann = world.as(7);
    thread_id = (await ann("holdfast/open-thread", { agent: "shop" })).id;
  });

  const call = (name: string, parameters: object = {}, key?: string) =>
    ann("holdfast/call-tool", { thread_id, name, parameters: { ...parameters } }, key);

  it("run it on the thread, and answer with what it came to", async () => {
    const answer = await call("shop/peek", { shelf: 3 });
    expect(answer).toMatchObject({
      ...{ thread_id, run: 1, status: "completed", final_content: "I see." },
      call: { tool_name: "shop/peek", phase: "settled", outcome: "success" },
      result: { success: true, result: "ran 1" },
    });
    expect(ran).toEqual([{ shelf: 3 }]);
    expect(await call("shop/peek", { shelf: 4 })).toMatchObject({ run: 2, result: { result: "ran 2" } });
  });

  it("are no way past the gate", async () => {
    expect(await call("shop/refund", { order: 1 })).toMatchObject({ status: "approval_required", result: null });
    expect(await world.holdfast.requests.list({})).toMatchObject([{ kind: "approval", tool_name: "shop/refund" }]);
    expect(ran).toEqual([]);
  });

  it("tell of a tool that may not run, or is not there, as the thread does", async () => {
    for (const name of ["shop/sell", "shop/nothing"]) {
      expect(await call(name), name).toMatchObject({ status: "completed", result: { success: false } });
    }
    expect(ran).toEqual([]);
  });

  it("run it once for one key, and refuse another under it", async () => {
    const first = await call("shop/peek", { shelf: 3 }, "k");
    expect(await call("shop/peek", { shelf: 3 }, "k")).toEqual(first);
    expect(await call("shop/peek", { shelf: 4 }, "k")).toMatchObject({ code: "idempotency_conflict" });
    expect(ran).toHaveLength(1);
  });

  it("queue it, and take it back from a thread that was stopped before", async () => {
    await ann("holdfast/stop-thread", { thread_id });
    const queued = await ann("holdfast/queue-tool", { thread_id, name: "shop/peek" });
    expect(queued).toEqual({ status: "queued", thread_id, id: expect.any(String) });
    expect(await call("shop/peek")).toMatchObject({ status: "queued" });
    const entry = { thread_id, entry_id: queued.id };
    expect(await ann("holdfast/cancel-queued", entry)).toEqual({ cancelled: true });
    expect(await ann("holdfast/cancel-queued", entry)).toEqual({ cancelled: false });
    expect(ran).toEqual([]);
  });

  it("are out of reach for others, and beyond the ceiling of a token", async () => {
    const given = { thread_id, name: "shop/peek", entry_id: "x" };
    for (const name of ["queue-tool", "call-tool", "cancel-queued"]) {
      expect(await world.as(8)(`holdfast/${name}`, given), name).toMatchObject({ code: "thread_not_found" });
      expect(await world.as(7, ceiling(7, "threads.read"))(`holdfast/${name}`, given), name).toMatchObject({
        code: "ability_forbidden",
      });
    }
  });

  it("name the field that is wrong", async () => {
    const message = (field: string) => ({ code: "invalid_input", message: expect.stringContaining(`${field}: `) });
    expect(await call("")).toMatchObject(message("name"));
    const odd = { thread_id, name: "shop/peek", parameters: [1] };
    expect(await ann("holdfast/queue-tool", odd)).toMatchObject(message("parameters"));
    expect(await ann("holdfast/cancel-queued", { thread_id })).toMatchObject(message("entry_id"));
  });
});

it("reads of a long thread what it answers with, and nothing for what is only queued", async () => {
  const model = scriptedModel([
    calls(says("I look."), ...Array.from({ length: 300 }, () => callsTool("shop/look"))),
    says("Done."),
    says("I see."),
  ]);
  const look = tool({ name: "shop/look", description: "Looks.", execute: () => "seen" });
  let read = 0;
  const counted =
    (reads: SqlDriver["all"]): SqlDriver["all"] =>
    async (sql, params) => {
      const rows = await reads(sql, params);
      // Those that a model is shown are read for the model.
      if (/from messages\b/.test(sql) && !/kind <> 'summary'/.test(sql)) read += rows.length;
      return rows;
    };
  const backend = withDriver(sqlite(":memory:"), ({ all, readLong }) => ({
    all: counted(all),
    readLong: counted(readLong),
  }));
  const { holdfast, as } = await deskWorld({ backend, agents: [agent({ slug: "shop", model, tools: [look] })] });
  const owner = as(1);
  const { id: thread_id } = await owner("holdfast/open-thread", { agent: "shop" });
  const thread = await holdfast.threads.get(thread_id);
  await thread.send("Look.");
  expect((await thread.status()).next_message).toBeGreaterThan(600);
  const input = { thread_id, name: "shop/look" };
  read = 0;
  expect(await owner("holdfast/call-tool", input)).toMatchObject({ run: 2, result: { result: "seen" } });
  expect(read).toBeLessThan(150);
  await owner("holdfast/stop-thread", { thread_id });
  read = 0;
  expect(await owner("holdfast/call-tool", input)).toMatchObject({ status: "queued" });
  expect(read).toBe(0);
});
