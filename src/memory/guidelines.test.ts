import { describe, expect, it, onTestFinished } from "vitest";
import { createGuidelineStore } from "../backend/sql/guidelines.ts";
import { migrate } from "../backend/sql/migrate.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { PRIVATE_MEMORY, SHARED_GUIDANCE } from "../contracts/memory/guideline.ts";
import * as principals from "../contracts/trust/principal.ts";
import { createGuidelines } from "./guidelines.ts";

const ANNA = 7;
const BEN = 8;
const EDITOR = 9;
const ADMIN = 10;

const capabilities: Readonly<Record<number, readonly string[]>> = {
  [ANNA]: ["read", "edit_posts", "promote_agent_memory"],
  [BEN]: ["read", "edit_posts"],
  [EDITOR]: ["read", "edit_posts", "publish_posts"],
};

/** An administrator holds whatever there is, also what nobody should. */
const holdsCapability = (user: number, capability: string) =>
  user === ADMIN || (capabilities[user]?.includes(capability) ?? false);

const as = (user: number, parts: Parameters<typeof principals.userSession>[2] = {}) =>
  principals.userSession(user, "support", parts);
const anna = as(ANNA);
const ben = as(BEN);
const editor = as(EDITOR);
const admin = as(ADMIN);
/** May promote, and nothing else. */
const promoting = (user: number) =>
  principals.agentToken(user, "support", 1, {
    capability_ceiling: { user_id: user, allowed_capabilities: ["promote_agent_memory"] },
  });
const nobody = principals.system("support");

const secret = { workspace_id: "shop", scope: PRIVATE_MEMORY, title: "Tea", content: "I like green tea." } as const;
const shared = { workspace_id: "shop", scope: SHARED_GUIDANCE, title: "Tone", content: "Be brief." } as const;

const NOT_FOUND = { code: "guideline_not_found" };
const FORBIDDEN = { code: "guideline_forbidden" };

async function openGuidelines(
  types?: Readonly<Record<string, string>>,
  holds: Parameters<typeof createGuidelines>[1]["holdsCapability"] = holdsCapability,
) {
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  await migrate(driver);
  return createGuidelines(createGuidelineStore(driver), { holdsCapability: holds, ...(types && { types }) });
}

describe("private memory", () => {
  it("is there for its owner", async () => {
    const guidelines = await openGuidelines();
    const made = await guidelines.create(anna, secret);
    expect(made).toMatchObject({ ...secret, user_id: ANNA, type: "artifact", status: "publish" });
    expect(await guidelines.get(anna, made.id)).toEqual(made);
    const outcome = await guidelines.update(anna, made.id, 1, { content: "I like black tea." });
    expect(outcome).toMatchObject({ outcome: "done", guideline: { content: "I like black tea.", version: 2 } });
    expect(await guidelines.delete(anna, made.id, 2)).toEqual({ outcome: "deleted" });
    await expect(guidelines.get(anna, made.id)).rejects.toMatchObject(NOT_FOUND);
  });

  it.each([
    ["a colleague", ben],
    ["an editor", editor],
    ["an administrator", admin],
    ["nobody", nobody],
  ])("does not exist for %s: not to read, to change, to promote, to list or to count", async (_who, other) => {
    const guidelines = await openGuidelines();
    const { id } = await guidelines.create(anna, { ...secret, status: "private" });
    await expect(guidelines.get(other, id)).rejects.toMatchObject(NOT_FOUND);
    await expect(guidelines.update(other, id, 1, { title: "Mine" })).rejects.toMatchObject(NOT_FOUND);
    await expect(guidelines.delete(other, id, 1)).rejects.toMatchObject(NOT_FOUND);
    await expect(guidelines.promote(other, id, 1)).rejects.toMatchObject(NOT_FOUND);
    expect(await guidelines.list(other, { workspace_id: "shop" })).toEqual([]);
    expect(await guidelines.count(other, { workspace_id: "shop" })).toBe(0);
    expect(await guidelines.get(anna, id)).toMatchObject({ version: 1 });
  });

  it("cannot be told from what is not there", async () => {
    const guidelines = await openGuidelines();
    const { id } = await guidelines.create(anna, secret);
    const message = async (asked: string) => {
      const error = await guidelines.get(ben, asked).catch((thrown: Error) => thrown);
      return String((error as Error).message).replace(asked, "…");
    };
    expect(await message(id)).toBe(await message(crypto.randomUUID()));
  });

  it("is nothing that somebody anonymous could own", async () => {
    const guidelines = await openGuidelines();
    await expect(guidelines.create(nobody, secret)).rejects.toMatchObject(FORBIDDEN);
    await expect(guidelines.list(nobody, { workspace_id: "shop", scope: PRIVATE_MEMORY })).rejects.toMatchObject(
      FORBIDDEN,
    );
  });

  it("is nothing for the program itself, even where it acts within the rights of the owner", async () => {
    const guidelines = await openGuidelines();
    const { id } = await guidelines.create(anna, secret);
    await guidelines.create(editor, shared);
    const program = principals.system("support", { capability_ceiling: { user_id: ANNA } });
    await expect(guidelines.get(program, id)).rejects.toMatchObject(NOT_FOUND);
    await expect(guidelines.create(program, secret)).rejects.toMatchObject(FORBIDDEN);
    const seen = await guidelines.list(program, { workspace_id: "shop" });
    expect(seen.map(({ title }) => title)).toEqual(["Tone"]);
  });

  it("stays closed to a token whose ceiling does not hold it", async () => {
    const guidelines = await openGuidelines();
    const { id } = await guidelines.create(anna, secret);
    const under = (ceiling: object) =>
      principals.agentToken(ANNA, "support", 1, { capability_ceiling: { user_id: ANNA, ...ceiling } });
    await expect(guidelines.get(under({ allowed_capabilities: [] }), id)).rejects.toMatchObject(FORBIDDEN);
    await expect(guidelines.get(under({ denied_capabilities: ["read"] }), id)).rejects.toMatchObject(FORBIDDEN);
    const reader = under({ allowed_capabilities: ["read_private_agent_memory"] });
    expect(await guidelines.get(reader, id)).toMatchObject({ id });
    await expect(guidelines.update(reader, id, 1, { title: "x" })).rejects.toMatchObject(FORBIDDEN);
    // A ceiling of somebody else opens nothing of the owner's.
    await expect(guidelines.get(under({ user_id: ADMIN }), id)).rejects.toMatchObject(FORBIDDEN);
  });
});

describe("shared guidance", () => {
  it("is read by those who edit, and changed by those who publish", async () => {
    const guidelines = await openGuidelines();
    await expect(guidelines.create(ben, shared)).rejects.toMatchObject(FORBIDDEN);
    const { id } = await guidelines.create(editor, shared);
    expect(await guidelines.get(ben, id)).toMatchObject({ title: "Tone", user_id: EDITOR });
    await expect(guidelines.update(ben, id, 1, { title: "x" })).rejects.toMatchObject(FORBIDDEN);
    await expect(guidelines.delete(ben, id, 1)).rejects.toMatchObject(FORBIDDEN);
    expect(await guidelines.update(admin, id, 1, { title: "Voice" })).toMatchObject({ outcome: "done" });
    await expect(guidelines.get(as(11), id)).rejects.toMatchObject(FORBIDDEN);
    await expect(guidelines.get(nobody, id)).rejects.toMatchObject(FORBIDDEN);
  });

  it("is listed with one's own private records, and with nobody else's", async () => {
    const guidelines = await openGuidelines();
    await guidelines.create(editor, shared);
    await guidelines.create(anna, secret);
    await guidelines.create(ben, { ...secret, title: "Coffee" });
    const titles = async (principal: principals.Principal, parts = {}) =>
      (await guidelines.list(principal, { workspace_id: "shop", ...parts })).map(({ title }) => title);
    expect(await titles(anna)).toEqual(["Tone", "Tea"]);
    expect(await titles(ben)).toEqual(["Tone", "Coffee"]);
    expect(await titles(admin)).toEqual(["Tone"]);
    expect(await titles(anna, { scope: PRIVATE_MEMORY })).toEqual(["Tea"]);
    expect(await titles(anna, { scope: SHARED_GUIDANCE })).toEqual(["Tone"]);
    expect(await titles(as(11))).toEqual([]);
    expect(await titles(anna, { limit: 1 })).toEqual(["Tone"]);
    expect(await guidelines.count(anna, { workspace_id: "shop" })).toBe(2);
    await expect(titles(as(11), { scope: SHARED_GUIDANCE })).rejects.toMatchObject(FORBIDDEN);
  });

  it("of another workspace is not there for whoever acts in one", async () => {
    const guidelines = await openGuidelines();
    const { id } = await guidelines.create(editor, shared);
    const elsewhere = as(EDITOR, { workspace_id: "blog" });
    await expect(guidelines.get(elsewhere, id)).rejects.toMatchObject(NOT_FOUND);
    await expect(guidelines.create(elsewhere, shared)).rejects.toMatchObject(FORBIDDEN);
    expect(await guidelines.list(elsewhere, { workspace_id: "shop" })).toEqual([]);
    expect(await guidelines.get(as(EDITOR, { workspace_id: "shop" }), id)).toMatchObject({ id });
  });

  it("is asked for of one workspace, and the host is told of which", async () => {
    const asked = new Set<string>();
    const guidelines = await openGuidelines({}, (user, capability, { workspace_id }) => {
      asked.add(workspace_id);
      return workspace_id === "shop" && holdsCapability(user, capability);
    });
    const { id } = await guidelines.create(editor, shared);
    expect(await guidelines.get(editor, id)).toMatchObject({ id });
    expect(await guidelines.list(editor, { workspace_id: "shop" })).toHaveLength(1);
    await expect(guidelines.create(editor, { ...shared, workspace_id: "blog" })).rejects.toMatchObject(FORBIDDEN);
    expect(await guidelines.list(editor, { workspace_id: "blog" })).toEqual([]);
    expect(await guidelines.count(editor, { workspace_id: "blog" })).toBe(0);
    expect([...asked]).toEqual(["shop", "blog"]);
  });

  it.each([
    ["no workspace", {}],
    ["a blank one", { workspace_id: " " }],
    ["one with a zero", { workspace_id: "shop\0" }],
    ["one with half a character", { workspace_id: "shop\ud800" }],
    ["a scope that there is not", { workspace_id: "shop", scope: "everything" }],
    ["half a limit", { workspace_id: "shop", limit: 0.5 }],
  ])("is not listed for %s", async (_what, list) => {
    const guidelines = await openGuidelines();
    await guidelines.create(editor, shared);
    await expect(guidelines.list(admin, list as never)).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(guidelines.count(admin, list as never)).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("is not shown to whoever may change it but not read it", async () => {
    const guidelines = await openGuidelines({}, (user, capability) =>
      user === BEN ? capability === "publish_posts" : holdsCapability(user, capability),
    );
    const { id } = await guidelines.create(editor, shared);
    await expect(guidelines.get(ben, id)).rejects.toMatchObject(FORBIDDEN);
    expect(await guidelines.update(ben, id, 1, { title: "Voice" })).toEqual({ outcome: "done", guideline: null });
    expect(await guidelines.update(ben, id, 1, { title: "Sound" })).toEqual({ outcome: "conflict", guideline: null });
    expect(await guidelines.delete(ben, id, 1)).toEqual({ outcome: "conflict", guideline: null });
    expect(await guidelines.get(editor, id)).toMatchObject({ title: "Voice", version: 2 });
  });
});

describe("promotion", () => {
  it("takes the owner and the capability, and keeps where it came from", async () => {
    const guidelines = await openGuidelines();
    const own = await guidelines.create(anna, secret);
    const outcome = await guidelines.promote(anna, own.id, 1);
    expect(outcome).toMatchObject({
      outcome: "done",
      guideline: {
        scope: SHARED_GUIDANCE,
        content: secret.content,
        promoted_from: own.id,
        promoted_by: ANNA,
        user_id: ANNA,
      },
    });
    expect(await guidelines.get(ben, outcome.guideline?.id ?? "")).toMatchObject({ title: "Tea" });
    expect(await guidelines.promote(anna, own.id, 1)).toEqual(outcome);
    const { guideline } = await guidelines.promote(promoting(ANNA), own.id, 1);
    expect(guideline).toBeNull();
    await expect(guidelines.get(ben, own.id)).rejects.toMatchObject(NOT_FOUND);
  });

  it("is refused to an owner without the capability, and of what is shared already", async () => {
    const guidelines = await openGuidelines();
    const own = await guidelines.create(ben, secret);
    await expect(guidelines.promote(ben, own.id, 1)).rejects.toMatchObject(FORBIDDEN);
    const { id } = await guidelines.create(editor, shared);
    await expect(guidelines.promote(admin, id, 1)).rejects.toMatchObject(FORBIDDEN);
    expect(await guidelines.count(admin, { workspace_id: "shop" })).toBe(1);
  });

  it("does not share what its owner has changed since", async () => {
    const guidelines = await openGuidelines();
    const { id } = await guidelines.create(anna, secret);
    await guidelines.update(anna, id, 1, { content: "Something private." });
    expect(await guidelines.promote(anna, id, 1)).toMatchObject({ outcome: "conflict", guideline: { version: 2 } });
    expect(await guidelines.count(admin, { workspace_id: "shop" })).toBe(0);
  });
});

describe("what a guideline is", () => {
  it("has a type that is known, and more of them where the host says so", async () => {
    const guidelines = await openGuidelines({ recipe: "Recipe" });
    expect(guidelines.types()).toEqual({ artifact: "Artifact", content: "Content", recipe: "Recipe" });
    expect(await guidelines.create(anna, { ...secret, type: "recipe" })).toMatchObject({ type: "recipe" });
    const wrong = [
      { ...secret, type: "toString" },
      { ...secret, scope: "private" as never },
      { ...secret, workspace_id: " " },
      { ...secret, title: 1 as never },
      { ...secret, status: "" },
    ];
    for (const input of wrong) {
      await expect(guidelines.create(anna, input)).rejects.toMatchObject({ code: "invalid_guideline" });
    }
  });

  it("is not overwritten by somebody who has not seen the last change", async () => {
    const guidelines = await openGuidelines();
    const { id } = await guidelines.create(editor, shared);
    await guidelines.update(editor, id, 1, { title: "Voice", content: undefined as never });
    const late = await guidelines.update(admin, id, 1, { title: "Sound" });
    expect(late).toMatchObject({ outcome: "conflict", guideline: { title: "Voice", version: 2 } });
    expect(await guidelines.delete(admin, id, 1)).toMatchObject({ outcome: "conflict", guideline: { version: 2 } });
    await expect(guidelines.update(editor, id, 2, { type: "nonsense" })).rejects.toMatchObject({
      code: "invalid_guideline",
    });
  });
});
