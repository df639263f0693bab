import { describe, expect, it } from "vitest";
import { ADMINISTRATOR, ceiling, deskWorld } from "../../test/desk-world.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";

const agents = [agent({ slug: "desk", model: scriptedModel([says("Hello.")]) })];
const trust = { holdsCapability: (user: number) => user === 7 || user === 8 };

const mine = { workspace_id: "1", scope: "private_user_workspace_memory", title: "Tone", content: "Be brief." };

describe("the operations on guidelines", () => {
  it("write, read, list, change, share and delete them", async () => {
    const ann = (await deskWorld({ agents, trust })).as(7);
    const made = await ann("holdfast/create-guideline", mine);
    expect(made).toMatchObject({
      ...mine,
      user_id: 7,
      version: expect.any(Number),
      created_at: expect.stringMatching(/Z$/),
    });
    const { id, version } = made;
    expect(await ann("holdfast/get-guideline", { id })).toEqual(made);
    const { guideline } = await ann("holdfast/update-guideline", { id, version, content: "Be kind." });
    expect(guideline).toMatchObject({ title: "Tone", content: "Be kind." });
    const now = guideline.version;
    expect(await ann("holdfast/promote-guideline", { id, version: String(now) })).toMatchObject({
      guideline: { scope: "workspace_shared_guidance", content: "Be kind.", promoted_from: id, promoted_by: 7 },
    });
    expect(await ann("holdfast/delete-guideline", { id, version: now })).toEqual({ deleted: true });
    expect(await ann("holdfast/get-guideline", { id })).toMatchObject({ code: "guideline_not_found" });
  });

  it("are forgotten with the person whose they are, and not with what one agent has noted", async () => {
    const world = await deskWorld({ agents, trust });
    const [ann, bob, administrator] = [world.as(7), world.as(8), world.as(ADMINISTRATOR)];
    for (const calls of [ann, bob]) await calls("holdfast/create-guideline", mine);
    const count = async (calls: typeof ann) =>
      (await calls("holdfast/list-guidelines", { workspace_id: "1" })).guidelines.length;
    const elsewhere = { workspace_type: "site", workspace_id: "2" };

    await administrator("holdfast/forget-memories", { user_id: 7, agent: "desk" });
    await administrator("holdfast/forget-memories", { user_id: 7, ...elsewhere });
    expect(await count(ann)).toBe(1);
    expect(await administrator("holdfast/forget-memories", { user_id: 7 })).toEqual({ forgotten: 0 });
    expect([await count(ann), await count(bob)]).toEqual([0, 1]);
  });

  it("list page by page", async () => {
    const ann = (await deskWorld({ agents, trust })).as(7);
    const titles = ["one", "two", "three"];
    for (const title of titles) await ann("holdfast/create-guideline", { ...mine, title });
    const seen: string[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page: { guidelines: { title: string }[]; next: string | null } = await ann("holdfast/list-guidelines", {
        ...{ workspace_id: "1", limit: "2" },
        ...(after !== undefined && { after }),
      });
      seen.push(...page.guidelines.map(({ title }) => title));
      after = page.next;
    }
    expect(seen).toEqual(titles);
  });

  it("refuse a change that was made from what it is not any more, and tell how it stands", async () => {
    const ann = (await deskWorld({ agents, trust })).as(7);
    const { id, version } = await ann("holdfast/create-guideline", mine);
    await ann("holdfast/update-guideline", { id, version, content: "Be kind." });
    const conflict = { code: "guideline_conflict", data: { guideline: { content: "Be kind." } } };
    expect(await ann("holdfast/update-guideline", { id, version, content: "Be rude." })).toMatchObject(conflict);
    expect(await ann("holdfast/delete-guideline", { id, version })).toMatchObject(conflict);
    expect(await ann("holdfast/promote-guideline", { id, version })).toMatchObject(conflict);
  });

  it("tell nobody of another's private memory, and nothing to those who lack what it takes", async () => {
    const world = await deskWorld({ agents, trust });
    const { id, version } = await world.as(7)("holdfast/create-guideline", mine);
    const bob = world.as(8);
    expect(await bob("holdfast/get-guideline", { id })).toMatchObject({ code: "guideline_not_found" });
    expect(await bob("holdfast/update-guideline", { id, version, title: "x" })).toMatchObject({
      code: "guideline_not_found",
    });
    expect(await bob("holdfast/list-guidelines", { workspace_id: "1" })).toEqual({ guidelines: [], next: null });
    expect(await world.as(9)("holdfast/create-guideline", mine)).toMatchObject({ code: "guideline_forbidden" });
    const reader = world.as(7, ceiling(7, "memory.read", "read", "read_private_agent_memory", "read_agent_memory"));
    expect(await reader("holdfast/create-guideline", mine)).toMatchObject({ code: "ability_forbidden" });
  });

  it("say so where the host keeps guidelines itself", async () => {
    const ann = (await deskWorld({ agents, trust, guidelines: false })).as(7);
    for (const [name, input] of [
      ["list-guidelines", { workspace_id: "1" }],
      ["get-guideline", { id: "x" }],
      ["create-guideline", mine],
      ["update-guideline", { id: "x", version: 1 }],
      ["promote-guideline", { id: "x", version: 1 }],
      ["delete-guideline", { id: "x", version: 1 }],
    ] as const) {
      expect(await ann(`holdfast/${name}`, input), name).toMatchObject({ code: "guidelines_unavailable" });
    }
  });

  it("name the field that is wrong", async () => {
    const ann = (await deskWorld({ agents, trust })).as(7);
    const message = (field: string) => ({ code: "invalid_input", message: expect.stringContaining(`${field}: `) });
    expect(await ann("holdfast/create-guideline", { ...mine, scope: "all" })).toMatchObject(message("scope"));
    expect(await ann("holdfast/list-guidelines", {})).toMatchObject(message("workspace_id"));
    expect(await ann("holdfast/list-guidelines", { workspace_id: "1", after: "x" })).toMatchObject(message("after"));
    expect(await ann("holdfast/update-guideline", { id: "x", version: "new" })).toMatchObject(message("version"));
    expect(await ann("holdfast/create-guideline", { ...mine, type: "poem" })).toMatchObject({
      code: "invalid_guideline",
    });
  });
});
