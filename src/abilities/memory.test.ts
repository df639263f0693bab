import { beforeEach, describe, expect, it } from "vitest";
import { ADMINISTRATOR, type Calls, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { memoryScope } from "../memory/scope-of-layer.ts";
import { callsTool, says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { memoryTools } from "../threads/memory/memory-tools.ts";

const user = (filename: string, user_id = 7) => memoryScope("user", filename, { user_id });

describe("the operations on memories", () => {
  let world: DeskWorld;
  let ann: Calls;

  beforeEach(async () => {
    const model = scriptedModel([
      callsTool("memory/remember", { name: "tone", content: "Short answers, please." }),
      says("Noted."),
    ]);
    world = await deskWorld({ agents: [agent({ slug: "desk", model, tools: [...memoryTools()] })] });
    await world.grant("desk", 7, 8);
    ann = world.as(7);
  });

  const put = (calls: Calls, name: string, content: string, more: object = {}) =>
    calls("holdfast/put-memory", { name, content, ...more });

  it("write, read, list, search and forget what is remembered about whoever calls", async () => {
    const written = await put(ann, "food/likes", "Plums and pears.");
    expect(written).toMatchObject({
      ...{ name: "food/likes", layer: "user", content: "Plums and pears.", hash: expect.any(String) },
      metadata: { source_type: "user_asserted", created_by_user_id: 7 },
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    await put(ann, "name", "Ann");
    await put(ann, "food/hates", "Quinces.");
    expect(await ann("holdfast/get-memory", { name: "food/likes" })).toEqual(written);
    const names = async (input: object) => {
      const { memories, has_more } = await ann("holdfast/list-memories", { ...input });
      return [...memories.map(({ name }: { name: string }) => name), ...(has_more ? ["…"] : [])];
    };
    expect(await names({})).toEqual(["food/hates", "food/likes", "name"]);
    expect(await names({ folder: "food/" })).toEqual(["food/hates", "food/likes"]);
    expect(await names({ limit: "1" })).toEqual(["food/hates", "…"]);
    expect(await names({ after: "food/i-am-gone" })).toEqual(["food/likes", "name"]);
    expect(await names({ words: "pears" })).toEqual(["food/likes"]);
    expect(await names({ words: "ann", folder: "food" })).toEqual([]);
    expect(await ann("holdfast/delete-memory", { name: "food/likes" })).toEqual({ deleted: true });
    expect(await ann("holdfast/get-memory", { name: "food/likes" })).toMatchObject({ code: "memory_not_found" });
    expect(await ann("holdfast/delete-memory", { name: "food/likes" })).toMatchObject({ code: "memory_not_found" });
  });

  it("replace only what was read, and take a repeat for what it is", async () => {
    const { hash } = await put(ann, "name", "Ann");
    const second = await put(ann, "name", "Anna", { if_match: hash });
    expect(second).toMatchObject({ content: "Anna" });
    expect(await put(ann, "name", "Anna", { if_match: hash })).toEqual(second);
    expect(await put(ann, "name", "Anne", { if_match: hash })).toMatchObject({ code: "memory_conflict" });
    expect(await put(ann, "new", "x", { if_match: hash })).toMatchObject({ code: "memory_conflict" });
    expect(await put(ann, "name", "Annie")).toMatchObject({
      content: "Annie",
      metadata: { created_at: second.metadata.created_at },
    });
  });

  it("show what an agent has noted about whoever calls, to be corrected and forgotten", async () => {
    const { id: thread_id } = await ann("holdfast/open-thread", { agent: "desk" });
    await ann("holdfast/change-consent", { thread_id, consent: { store_memory: true } });
    await ann("holdfast/send-message", { thread_id, content: "Be brief.", wait: true });
    const place = { layer: "principal", agent: "desk" };
    expect(await ann("holdfast/get-memory", { ...place, name: "tone" })).toMatchObject({
      ...{ content: "Short answers, please.", metadata: { source_type: "agent_inferred" } },
    });
    expect(await put(ann, "tone", "Long answers.", place)).toMatchObject({
      metadata: { source_type: "user_asserted" },
    });
    expect(await world.as(8)("holdfast/list-memories", place)).toMatchObject({ memories: [] });
    expect(await ann("holdfast/delete-memory", { ...place, name: "tone" })).toEqual({ deleted: true });
    expect(await ann("holdfast/list-memories", { ...place, agent: "nobody" })).toMatchObject({
      code: "agent_not_found",
    });
    expect(await ann("holdfast/list-memories", { layer: "principal" })).toMatchObject({ code: "invalid_argument" });
  });

  it("reach nothing of others, and nothing that several people are shown, without the capability for it", async () => {
    await put(ann, "name", "Ann");
    const bob = world.as(8);
    const forbidden = { code: "memory_forbidden" };
    expect(await bob("holdfast/get-memory", { name: "name" })).toMatchObject({ code: "memory_not_found" });
    for (const place of [{ user_id: "7" }, { layer: "workspace" }, { layer: "shared" }, { layer: "network" }]) {
      expect(await bob("holdfast/list-memories", place)).toMatchObject(forbidden);
      expect(await bob("holdfast/get-memory", { ...place, name: "name" })).toMatchObject(forbidden);
      expect(await put(bob, "name", "Bob", place)).toMatchObject(forbidden);
      expect(await bob("holdfast/delete-memory", { ...place, name: "name" })).toMatchObject(forbidden);
    }
    expect(await bob("holdfast/list-memories", { layer: "agent", agent: "desk" })).toMatchObject(forbidden);
    expect(await world.as(0)("holdfast/list-memories")).toMatchObject(forbidden);
    const abroad = world.as(7, { workspace_id: "2" });
    await world.holdfast.grants.grant({ agent: "desk", user_id: 7, role: "operator", workspace_id: "2" });
    const place = { layer: "principal", agent: "desk", workspace_type: "site" };
    expect(await abroad("holdfast/list-memories", { ...place, workspace_id: "1" })).toMatchObject(forbidden);
    expect(await abroad("holdfast/list-memories", { ...place, workspace_id: "2" })).toMatchObject({ memories: [] });
    expect(await world.holdfast.memories.read(user("name"))).toMatchObject({ content: "Ann" });
  });

  it("tell nobody which agents there are that he may not use", async () => {
    const carol = world.as(9);
    const refusal = (agent: string) => carol("holdfast/list-memories", { layer: "principal", agent });
    const { message } = await refusal("desk");
    expect(await refusal("desk")).toMatchObject({ code: "agent_not_found" });
    expect((await refusal("none")).message).toBe(message.replace("desk", "none"));
    for (const name of ["get-memory", "delete-memory"]) {
      const input = { layer: "principal", agent: "desk", name: "x" };
      expect(await carol(`holdfast/${name}`, input)).toMatchObject({ code: "agent_not_found" });
    }
  });

  it("show what an agent has noted also to whom it was taken from", async () => {
    const place = { layer: "principal", agent: "desk" };
    await put(ann, "tone", "Long answers.", place);
    await world.holdfast.grants.revoke("desk", { user_id: 7 });
    expect(await ann("holdfast/list-memories", place)).toMatchObject({ memories: [{ name: "tone" }] });
    expect(await ann("holdfast/delete-memory", { ...place, name: "tone" })).toEqual({ deleted: true });
    expect(await ann("holdfast/list-memories", place)).toMatchObject({ code: "agent_not_found" });
  });

  it("let those who manage memories reach all of them, and say whose word it is", async () => {
    const administrator = world.as(ADMINISTRATOR);
    const plan = { user_id: 7, source_type: "system_generated" };
    expect(await put(administrator, "plan", "Pays monthly.", plan)).toMatchObject({
      metadata: { source_type: "system_generated" },
    });
    expect(await put(administrator, "hours", "9 to 5", { layer: "workspace" })).toMatchObject({
      metadata: { source_type: "curated" },
    });
    expect(await administrator("holdfast/get-memory", { layer: "workspace", name: "hours" })).toMatchObject({
      content: "9 to 5",
    });
    expect(await administrator("holdfast/get-memory", { user_id: 7, name: "plan" })).toMatchObject({
      content: "Pays monthly.",
    });
  });

  it("leave what others keep about somebody as it is", async () => {
    await put(world.as(ADMINISTRATOR), "plan", "Pays monthly.", { user_id: 7 });
    expect(await ann("holdfast/get-memory", { name: "plan" })).toMatchObject({ content: "Pays monthly." });
    expect(await put(ann, "plan", "Pays nothing.")).toMatchObject({ code: "memory_forbidden" });
    expect(await ann("holdfast/delete-memory", { name: "plan" })).toMatchObject({ code: "memory_forbidden" });
    expect(await put(ann, "rank", "Chief.", { source_type: "curated" })).toMatchObject({ code: "memory_forbidden" });
    expect(await world.holdfast.memories.read(user("plan"))).toMatchObject({ content: "Pays monthly." });
    expect(await world.holdfast.memories.exists(user("rank"))).toBe(false);
  });

  it("let those who manage memories forget all about somebody", async () => {
    const administrator = world.as(ADMINISTRATOR);
    const place = { workspace_type: "site", workspace_id: "shop" };
    await put(ann, "name", "Ann");
    await put(ann, "tone", "Short.", { layer: "principal", agent: "desk" });
    await put(world.as(8), "name", "Bob");
    await put(administrator, "hours", "9 to 5", { layer: "workspace", ...place });
    const forget = (calls: Calls, input: object) => calls("holdfast/forget-memories", { ...input });

    expect(await forget(ann, { user_id: 7 })).toMatchObject({ code: "ability_forbidden" });
    expect(await forget(administrator, {})).toMatchObject({ code: "invalid_argument" });
    expect(await forget(administrator, { user_id: 7, workspace_id: "1" })).toMatchObject({ code: "invalid_argument" });
    expect(await forget(administrator, { user_id: 7, agent: "nobody" })).toMatchObject({ code: "agent_not_found" });
    expect(await forget(administrator, { user_id: 7, agent: "desk" })).toEqual({ forgotten: 1 });
    expect(await forget(administrator, { user_id: 7 })).toEqual({ forgotten: 1 });
    expect(await forget(administrator, { user_id: "7" })).toEqual({ forgotten: 0 });
    expect(await world.holdfast.memories.exists(user("name", 8))).toBe(true);
    expect(await forget(administrator, place)).toEqual({ forgotten: 1 });
  });

  it("stay below the ceiling of a token", async () => {
    const reader = world.as(7, ceiling(7, "memory.read"));
    expect(await reader("holdfast/list-memories")).toMatchObject({ memories: [] });
    expect(await put(reader, "name", "Ann")).toMatchObject({ code: "ability_forbidden" });
    const administrator = world.as(ADMINISTRATOR, ceiling(ADMINISTRATOR, "memory.read"));
    expect(await administrator("holdfast/list-memories", { user_id: 7 })).toMatchObject({ code: "memory_forbidden" });
  });

  it("name the field that is wrong", async () => {
    const message = (field: string) => ({ code: "invalid_input", message: expect.stringContaining(`${field}: `) });
    expect(await put(ann, "name", "")).toMatchObject(message("content"));
    expect(await put(ann, "name", "x".repeat(64_001))).toMatchObject(message("content"));
    expect(await put(ann, "", "x")).toMatchObject(message("name"));
    expect(await ann("holdfast/list-memories", { layer: "galaxy" })).toMatchObject(message("layer"));
    expect(await ann("holdfast/list-memories", { user_id: "me" })).toMatchObject(message("user_id"));
    expect(await put(ann, "a\0b", "x")).toMatchObject({ code: "invalid_argument" });
    for (const field of ["folder", "words", "after"]) {
      expect(await ann("holdfast/list-memories", { [field]: "/".repeat(1_025) })).toMatchObject(message(field));
    }
    expect(await put(ann, "n".repeat(1_025), "x")).toMatchObject(message("name"));
  });
});
