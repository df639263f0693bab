import { describe, expect, it } from "vitest";
import { withDriver } from "../../test/changed-driver.ts";
import { ADMINISTRATOR, type Calls, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { childAgent, parentAgent } from "../../test/survives-a-crash/child-agent.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { memorySource } from "../memory/memory-source.ts";
import { memoryScope } from "../memory/scope-of-layer.ts";
import { calls, callsTool, says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { tool } from "../threads/tool.ts";

const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "a plum" });
const notes = memorySource("notes", { layer: "user" });
const hours = memorySource("hours", { layer: "workspace" });

/** A thread of user 7 with one run of one call, and somebody for whom it was all remembered. */
async function told(): Promise<{ world: DeskWorld; ann: Calls; thread_id: string }> {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const model = scriptedModel([callsTool("shop/peek", { shelf: "secret shelf" }), says("A plum.", { usage })]);
  const world = await deskWorld({
    agents: [agent({ slug: "shop", model, tools: [peek] })],
    memory: { sources: [notes, hours] },
  });
  await world.grant("shop", 7, 8);
  const ann = world.as(7);
  const { memories } = world.holdfast;
  const metadata = { source_type: "curated" };
  await memories.write(memoryScope("user", "tone", { user_id: 7 }), "Be brief.", { metadata });
  await memories.write(memoryScope("workspace", "hours"), "Nine to five.", { metadata });
  const { id: thread_id } = await ann("holdfast/open-thread", { agent: "shop" });
  await ann("holdfast/change-consent", { thread_id, consent: { use_memory: true } });
  await ann("holdfast/send-message", { thread_id, content: "What is there?", wait: true });
  return { world, ann, thread_id };
}

const names = ["list-runs", "list-calls", "list-logs", "get-thread-cost", "get-thread-context", "list-children"];

describe("the operations that tell more about a thread", () => {
  it("tell its runs, its calls, its logs and its costs", async () => {
    const { ann, thread_id } = await told();
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(await ann("holdfast/list-runs", { thread_id })).toMatchObject({
      runs: [{ run: 1, status: "completed", outcome: { final_content: "A plum." }, started_at: time, ended_at: time }],
    });
    const { calls } = await ann("holdfast/list-calls", { thread_id });
    expect(calls).toMatchObject([{ tool_name: "shop/peek", phase: "settled", outcome: "success", begun_at: time }]);
    const { run, number } = calls[0];
    for (const [input, count] of [
      [{ limit: "1" }, 1],
      [{ after: `${run}.${number}` }, 0],
      [{ after: `${run - 1}.99` }, 1],
    ] as const) {
      expect((await ann("holdfast/list-calls", { thread_id, ...input })).calls).toHaveLength(count);
    }
    for (const after of ["x", "1", "1.2.3", "-1.0"]) {
      expect(await ann("holdfast/list-calls", { thread_id, after })).toMatchObject({ code: "invalid_input" });
    }
    expect(JSON.stringify(calls)).not.toMatch(/secret shelf|hmac|epoch/);
    const { logs, has_more } = await ann("holdfast/list-logs", { thread_id, order: "asc", limit: "2" });
    expect([logs.length, has_more]).toEqual([2, true]);
    expect(logs[0]).toMatchObject({ kind: null, created_at: time });
    const rest = await ann("holdfast/list-logs", { thread_id, order: "asc", offset: "2" });
    expect(rest).toMatchObject({ has_more: false, logs: [{ total_tokens: 15 }] });
    expect(await ann("holdfast/get-thread-cost", { thread_id })).toMatchObject({
      ...{ thread_id, own: { calls: 2, total_tokens: 15 }, subtree: { calls: 2 } },
    });
    expect(await ann("holdfast/list-children", { thread_id })).toEqual({ children: [], has_more: false });
  });

  it("tell its children a page at a time, and read no more than the page", async () => {
    const wish = { agent: "postman", message: "Fetch the mail.", attachments: [], name: "postman" };
    const wishes = Array.from({ length: 5 }, () => callsTool("subagent_create", wish));
    let read = 0;
    const backend = withDriver(sqlite(":memory:"), ({ all }) => ({
      async all(sql, params) {
        const rows = await all(sql, params);
        if (/from threads where parent_id|from thread_arguments/.test(sql)) read += rows.length;
        return rows;
      },
    }));
    const tools = [{ name: "postman", resumable: {} }];
    const script = [calls(says("I send five."), ...wishes), says("Sent for.")];
    const postman = childAgent("postman", { script: [] });
    const world = await deskWorld({ backend, agents: [parentAgent("household", { script, tools }), postman] });
    const owner = world.as(ADMINISTRATOR);
    const { id: thread_id } = await owner("holdfast/open-thread", { agent: "household" });
    await owner("holdfast/send-message", { thread_id, content: "Is there mail?", wait: true });
    const page = async (more: object) => {
      read = 0;
      const { children, has_more } = await owner("holdfast/list-children", { thread_id, ...more });
      return { has_more, ids: children.map((child: { thread_id: string }) => child.thread_id) };
    };
    const all = await page({});
    expect([all.ids.length, all.has_more]).toEqual([5, false]);
    expect(await page({ limit: "2" })).toEqual({ ids: all.ids.slice(0, 2), has_more: true });
    expect(read).toBe(3);
    expect(await page({ limit: "2", after: all.ids[2] })).toEqual({ ids: all.ids.slice(3), has_more: false });
    expect(await page({ after: thread_id })).toEqual({ ids: [], has_more: false });
  });

  it("show the texts that were retrieved to those whose they are, and why they were there to all who reach the thread", async () => {
    const { world, ann, thread_id } = await told();
    const shown = async (calls: Calls) => {
      const { context } = await calls("holdfast/get-thread-context", { thread_id });
      return Object.fromEntries(
        context.items.map(({ source, content }: { source: string; content: string | null }) => [source, content]),
      );
    };
    expect(await shown(ann)).toEqual({ notes: "Be brief.", hours: null });
    expect(await shown(world.as(7, ceiling(7, "threads.read")))).toEqual({ notes: null, hours: null });
    expect(await shown(world.as(ADMINISTRATOR))).toEqual({ notes: "Be brief.", hours: "Nine to five." });
    await world.holdfast.grants.grant({ agent: "shop", user_id: 9, role: "admin" });
    expect(await shown(world.as(9))).toEqual({ notes: null, hours: null });
    const step = async (number: string) => await ann("holdfast/get-thread-context", { thread_id, step: number });
    expect(await step("99")).toEqual({ context: null });
  });

  it("tell nothing to others, nor beyond the ceiling of a token", async () => {
    const { world, thread_id } = await told();
    const bob = world.as(8);
    const writer = world.as(7, ceiling(7, "threads.write"));
    for (const name of names) {
      expect(await bob(`holdfast/${name}`, { thread_id }), name).toMatchObject({ code: "thread_not_found" });
      expect(await bob(`holdfast/${name}`, { thread_id: "nobody" }), name).toMatchObject({ code: "thread_not_found" });
      expect(await writer(`holdfast/${name}`, { thread_id }), name).toMatchObject({ code: "ability_forbidden" });
    }
    expect(await world.as(ADMINISTRATOR)("holdfast/list-runs", { thread_id })).toMatchObject({ runs: [{ run: 1 }] });
  });

  it("name the field that is wrong", async () => {
    const { ann, thread_id } = await told();
    const message = (field: string) => ({ code: "invalid_input", message: expect.stringContaining(`${field}: `) });
    for (const name of names) expect(await ann(`holdfast/${name}`), name).toMatchObject(message("thread_id"));
    for (const [field, value] of [
      ["limit", "0"],
      ["limit", "501"],
      ["offset", "-1"],
      ["order", "random"],
    ] as const) {
      expect(await ann("holdfast/list-logs", { thread_id, [field]: value })).toMatchObject(message(field));
    }
    expect(await ann("holdfast/get-thread-context", { thread_id, step: "last" })).toMatchObject(message("step"));
  });

  it("page through the messages, edited and deleted ones included", async () => {
    const { ann, thread_id } = await told();
    const page = async (input: object) => {
      const { messages, has_more } = await ann("holdfast/list-messages", { thread_id, ...input });
      return [messages.map(({ seq }: { seq: number }) => seq), has_more];
    };
    expect(await page({ limit: 2 })).toEqual([[0, 1], true]);
    expect(await page({ limit: "2", after: "1" })).toEqual([[2, 3], false]);
    await ann("holdfast/delete-message", { thread_id, seq: 3 });
    await ann("holdfast/edit-message", { thread_id, seq: 0, content: "What is on the shelf?" });
    // What was asked for is done by the time the stop is.
    expect(await ann("holdfast/stop-thread", { thread_id })).toMatchObject({ id: thread_id });
    expect(await page({ limit: 3 })).toEqual([[0, 1, 2], false]);
    const { messages } = await ann("holdfast/list-messages", { thread_id, limit: 1 });
    expect(messages).toMatchObject([{ seq: 0, message: { content: "What is on the shelf?" } }]);
  });
});
