import { describe, expect, it } from "vitest";
import { attachedPath, newFamily, relationship } from "../../../test/family.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { createEntry } from "../new-entry.ts";
import { hiddenTools, subagentTools } from "./subagent-tools.ts";

const wish = { agent: "reviewer", message: "Read it.", attachments: [], name: "Ada" };
const reviewer = relationship("reviewer", { blocking: false });

async function withChild(parts = {}) {
  const family = await newFamily({ parent: { a: [{ ...reviewer, ...parts }] }, reviewer: {} });
  const { result } = await family.call("subagent_create", wish);
  return { family, reference: String(result?.reference) };
}

describe("which tools come with subagents", () => {
  const once = relationship("summary", { resumable: false });
  const optional = relationship("later", { optional: "LATER" });
  const hiddenOne = relationship("quiet", { hidden: true });

  const namesOf = async (family: Awaited<ReturnType<typeof newFamily>>, side: "a" | "b" = "a") => {
    const of = {
      ...{ agent: family.agent("parent"), side },
      relationships: family.host.registry.relationshipsOf(family.agent("parent"), side),
    };
    const env = async (name: string) => (await family.variables(family.parent.id))[name];
    const hidden = await hiddenTools(family.host, { ...of, threadId: family.parent.id, env });
    return subagentTools(family.host, of)
      .map(({ name }) => name)
      .filter((name) => !hidden.has(name));
  };

  it("none for a side without any", async () => {
    const family = await newFamily({ parent: {} });
    expect(await namesOf(family)).toEqual([]);
  });

  it("those to write and to list only once there is somebody to write to or to list", async () => {
    const family = await newFamily({ parent: { a: [reviewer, once] }, reviewer: {}, summary: {} });
    expect(await namesOf(family)).toEqual(["standard/subagent_create", "standard/subagents", "standard/summary"]);
    const { result } = await family.call("subagent_create", wish);
    const all = ["subagent_create", "subagent_message", "subagents", "summary"];
    expect(await namesOf(family)).toEqual(all.map((name) => `standard/${name}`));
    await family.host.stores.threads.terminate(String(result?.reference), createEntry.stop("Enough."));
    expect(await namesOf(family)).toEqual(["standard/subagent_create", "standard/subagents", "standard/summary"]);
  });

  it("the list stays when all that there was has ended, and nothing can be created", async () => {
    const family = await newFamily({ parent: { a: [once] }, summary: {} });
    expect(await namesOf(family)).toEqual(["standard/summary"]);
    await family.call("summary", {});
    const [child] = await family.children();
    await family.host.stores.threads.terminate(child?.id ?? "", createEntry.stop("Enough."));
    expect(await namesOf(family)).toEqual(["standard/subagents", "standard/summary"]);
  });

  it.each([
    ["YES", true],
    [" 1 ", true],
    ["true", true],
    ["on", false],
    ["", false],
  ])("with the flag %j an optional one is offered: %s", async (flag, isOffered) => {
    const family = await newFamily({ parent: { a: [optional], b: [{ ...once, optional: "LATER" }] } });
    await family.setVariable(family.parent.id, "LATER", flag);
    expect(await namesOf(family)).toEqual(isOffered ? ["standard/subagent_create", "standard/subagents"] : []);
    expect(await namesOf(family, "b")).toEqual(isOffered ? ["standard/summary"] : []);
  });

  it("none for one that only code may create", async () => {
    const family = await newFamily({ parent: { a: [hiddenOne] } });
    expect(await namesOf(family)).toEqual([]);
  });

  it("tell a model what to write, and let the tool itself complain", async () => {
    const family = await newFamily({
      parent: { a: [reviewer, hiddenOne] },
      reviewer: { schema: { type: "object", required: ["topic"], properties: { topic: { type: "string" } } } },
    });
    const [create] = subagentTools(family.host, {
      ...{ agent: family.agent("parent"), side: "a" },
      relationships: [reviewer, hiddenOne],
    });
    expect(create?.declaration.parameters).toMatchObject({
      type: "object",
      required: ["agent", "message", "attachments", "name"],
      properties: { agent: { enum: ["reviewer"] }, arguments: { anyOf: [{ required: ["topic"] }] } },
    });
    expect(create?.idempotent).toBe(true);
    expect(await create?.validateInput({ nonsense: true })).toEqual({ ok: true, value: { nonsense: true } });
  });
});

describe("a message to a child", () => {
  it("is left for it with copies of the files, and shows it as running", async () => {
    const { family, reference } = await withChild();
    await family.write({ write: "child_status", thread_id: reference, status: "idle" });
    await family.putFile(family.parent.id, "/attachments/b.txt");
    const input = { referenceId: reference, message: "And /attachments/b.txt?", attachments: ["/attachments/b.txt"] };
    expect(await family.call("subagent_message", input)).toMatchObject({
      success: true,
      result: { reference, status: "running" },
      metadata: { subagent_id: reference },
    });
    const [, file, message] = await family.inbox(reference);
    const path = attachedPath(file);
    expect(file).toMatchObject({ kind: "inject", metadata: { silent: true } });
    expect(message).toMatchObject({ kind: "message", role: "user", content: `And ${path}?` });
    expect(await family.host.stores.files.get(reference, path)).toMatchObject({ name: "b.txt" });
    expect((await family.children())[0]?.child_status).toBe("running");
  });

  it("speaks to the side that gets messages, also under the older name of the tool", async () => {
    const { family, reference } = await withChild({ receivesMessages: "side_b" });
    await family.call("send_to_agent", { referenceId: reference, message: "Well?", attachments: [] });
    expect((await family.inbox(reference)).at(-1)).toMatchObject({ role: "assistant", content: "Well?" });
  });

  it("that is unknown, terminated or somebody else's is refused", async () => {
    const { family, reference } = await withChild();
    const ended = String((await family.call("subagent_create", wish)).result?.reference);
    await family.host.stores.threads.terminate(ended, createEntry.stop("Enough."));
    await family.write({ write: "entry", thread_id: reference, entry: createEntry.stop("x") });
    const foreign = await grandchild(family, reference);
    for (const referenceId of ["nobody", ended, foreign, family.parent.id]) {
      const returned = await family.call("subagent_message", { referenceId, message: "Well?", attachments: [] });
      expect(returned).toMatchObject({ success: false, metadata: { error_code: "subagent_not_active" } });
      expect(returned.error).toContain("not active");
    }
    expect(await family.inbox(foreign)).toEqual([]);
  });

  it.each<[string, JsonMap, string]>([
    ["without a reference", { message: "x", attachments: [] }, "referenceId"],
    ["without a message", { attachments: [] }, "message"],
    ["without attachments", { message: "x" }, "attachments"],
    ["with a file that is not there", { message: "x", attachments: ["/attachments/no.txt"] }, "/attachments/no.txt"],
  ])("%s is refused, and leaves nothing", async (title, input, words) => {
    const { family, reference } = await withChild();
    const given = title.includes("reference") ? input : { referenceId: reference, ...input };
    const returned = await family.call("subagent_message", given);
    expect(returned.error).toContain(words);
    expect(await family.inbox(reference)).toHaveLength(1);
  });
});

describe("the list of children", () => {
  it("shows the live ones first, and none of a hidden relationship", async () => {
    const family = await newFamily({
      parent: { a: [reviewer, relationship("quiet", { hidden: true, blocking: false })] },
      ...{ reviewer: {}, quiet: {} },
    });
    const first = String((await family.call("subagent_create", { ...wish, name: "Ada" })).result?.reference);
    await family.call("subagent_create", { ...wish, agent: "quiet" }, { byCode: true });
    const second = String((await family.call("subagent_create", { ...wish, name: "Bea" })).result?.reference);
    await family.host.stores.threads.terminate(first, createEntry.stop("Enough."));
    await family.write({ write: "child_status", thread_id: second, status: "half done" });
    const { description } = reviewer;
    expect((await family.call("subagents", {})).result).toEqual({
      subagents: [
        { reference: second, name: "Bea", agent: "reviewer", status: "half done", description },
        { reference: first, name: "Ada", agent: "reviewer", status: "terminated", description },
      ],
    });
  });
});

/** A child of the child. */
async function grandchild(family: Awaited<ReturnType<typeof newFamily>>, parentId: string): Promise<string> {
  const [child] = await family.children();
  const id = crypto.randomUUID();
  const thread = { ...child, id, key: id, parent_id: parentId, state_version: 1, hash: "h", arguments: null };
  await family.write({ write: "thread", thread: thread as never });
  return id;
}
