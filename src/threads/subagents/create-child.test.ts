import { describe, expect, it } from "vitest";
import { type Family, newFamily, relationship } from "../../../test/family.ts";
import { openThread } from "../../backend/contract/stores-in-test.ts";
import type { JsonMap } from "../../contracts/json.ts";

const wish = { agent: "reviewer", message: "Read it.", attachments: [], name: "First reader" };

const schema: JsonMap = { type: "object", required: ["topic"], properties: { topic: { type: "string" } } };

async function withReviewer(parts: Parameters<typeof relationship>[1] = {}): Promise<Family> {
  return await newFamily({ parent: { a: [relationship("reviewer", parts)] }, reviewer: {} });
}

const referenceIn = (returned: { readonly result?: JsonMap }) => String(returned.result?.reference);

describe("a child that is created", () => {
  it("is there with its place in the registry and its first message, and the call waits for it", async () => {
    const family = await withReviewer({ maxInstances: 2, parentCommunication: "explicit" });
    const returned = await family.call("subagent_create", wish, { requestId: "request-7" });
    const [child] = await family.children();
    expect(returned).toMatchObject({
      success: false,
      status: "runtime_tool_pending",
      metadata: { waits_for: "child", subagent_id: child?.id },
    });
    expect(child).toMatchObject({
      agent: "reviewer",
      key: `child:${child?.id}`,
      parent_id: family.parent.id,
      user_id: "user-1",
      tags: ["name:First reader"],
      child_status: "running",
      child: {
        relationship: "reviewer",
        side: "a",
        blocking: true,
        resumable: true,
        receives_messages: "side_a",
        parent_communication: "explicit",
        thread_name: "First reader",
        request_id: "request-7",
      },
    });
    expect(await family.inbox(child?.id ?? "")).toMatchObject([
      { kind: "message", role: "user", content: "Read it.", metadata: {} },
    ]);
  });

  it("tells its reference at once when nobody waits for it", async () => {
    const family = await withReviewer({ blocking: false });
    const returned = await family.call("subagent_create", wish);
    const [child] = await family.children();
    expect(returned).toMatchObject({
      success: true,
      result: { reference: child?.id, status: "running" },
      metadata: { subagent_id: child?.id },
    });
    expect(child?.child?.request_id).toBeNull();
  });

  it("is not waited for by code that wants a result at once", async () => {
    const family = await withReviewer();
    const returned = await family.call("subagent_create", wish, { requestId: "" });
    expect(returned).toMatchObject({ success: true });
    expect((await family.children())[0]?.child?.request_id).toBeNull();
  });

  it("gets its arguments and files silently before the message, which says where they are now", async () => {
    const family = await newFamily({ parent: { a: [relationship("reviewer")] }, reviewer: { schema } });
    await family.putFile(family.parent.id, "/attachments/plan.txt");
    const message = "Read /attachments/plan.txt.";
    await family.call("subagent_create", {
      ...{ ...wish, message, attachments: ["/attachments/plan.txt"], arguments: { topic: "cats" } },
    });
    const id = (await family.children())[0]?.id ?? "";
    const [file] = await family.host.stores.files
      .list(id, "/", { deep: true })
      .then((all) => all.filter((each) => !each.is_directory));
    expect(file?.path).toMatch(/^\/attachments\/plan-.{8}\.txt$/);
    expect(await family.inbox(id)).toMatchObject([
      {
        kind: "inject",
        role: "system",
        metadata: { silent: true },
        content: expect.stringContaining('"topic": "cats"'),
      },
      {
        kind: "inject",
        role: "user",
        metadata: { silent: true, attachments: [{ path: file?.path, name: "plan.txt" }] },
        content: expect.stringContaining(file?.path ?? "nowhere"),
      },
      { kind: "message", role: "user", content: `Read ${file?.path}.`, metadata: {} },
    ]);
    const sealed = (await family.host.stores.threads.arguments(id)) ?? "";
    expect(JSON.parse(family.host.sealing.open(sealed, id))).toEqual({ topic: "cats" });
  });

  it("hears its side B speak first when that is who gets messages", async () => {
    const family = await withReviewer({ receivesMessages: "side_b" });
    await family.call("subagent_create", wish);
    const id = (await family.children())[0]?.id ?? "";
    expect(await family.inbox(id)).toMatchObject([{ role: "assistant", content: "Read it." }]);
  });

  it("under its own name begins with what the arguments say", async () => {
    const init = { initUserMessageProperty: "task", initAttachmentsProperty: "files", initAgentNameProperty: "who" };
    const once = relationship("summary", { resumable: false, blocking: false, ...init });
    const family = await newFamily({ parent: { a: [once] }, summary: {} });
    await family.putFile(family.parent.id, "/attachments/a.txt");
    await family.call("summary", { task: "Sum up.", files: "/attachments/a.txt", who: "Ada\n Lovelace" });
    const [child] = await family.children();
    expect(child).toMatchObject({
      tags: ["name:Ada Lovelace"],
      child: { resumable: false, thread_name: "Ada Lovelace" },
    });
    const left = await family.inbox(child?.id ?? "");
    expect(left.map(({ kind }) => kind)).toEqual(["inject", "inject", "message"]);
    expect(left.at(-1)).toMatchObject({ content: "Sum up." });
  });

  it("has a hook told of it before it reads anything", async () => {
    const family = await newFamily({ parent: { a: [relationship("reviewer")] }, reviewer: { isTold: true } });
    await family.call("subagent_create", wish);
    const [child] = await family.children();
    expect((await family.inbox(child?.id ?? "")).map(({ kind }) => kind)).toEqual(["born", "message"]);
  });

  it("draws on the budget of its parent", async () => {
    const family = await withReviewer();
    Object.assign(family.parent, { budget: "team" });
    await family.call("subagent_create", wish);
    expect((await family.children())[0]?.budget).toBe("team");
  });
});

describe("a child that cannot be created", () => {
  it.each<[string, JsonMap, string]>([
    ["without a name", { ...wish, name: "" }, "name must be"],
    ["without attachments", { agent: "reviewer", message: "x", name: "y" }, "attachments must be"],
    ["for an unknown agent", { ...wish, agent: "writer" }, 'no subagent "writer"'],
    ["with a file that is not there", { ...wish, attachments: ["/attachments/no.txt"] }, "/attachments/no.txt"],
    ["with a file outside of the attachments", { ...wish, attachments: ["/notes/plan.txt"] }, "/notes/plan.txt"],
    ["with a path that leads out", { ...wish, attachments: ["/attachments/../../x"] }, "../../x"],
  ])("%s leaves nothing behind and says why", async (_, input, words) => {
    const family = await withReviewer();
    await family.putFile(family.parent.id, "/notes/plan.txt");
    const returned = await family.call("subagent_create", input);
    expect(returned.success).toBe(false);
    expect(returned.error).toContain(words);
    expect(await family.children()).toEqual([]);
  });

  it("tells which agents there are, and none that is hidden or switched off", async () => {
    const family = await newFamily(
      {
        parent: {
          a: [
            relationship("reviewer"),
            relationship("secret_one", { hidden: true }),
            relationship("later", { optional: "LATER" }),
          ],
        },
        reviewer: {},
        secret_one: {},
        later: {},
      },
      { LATER: "on" },
    );
    expect((await family.call("subagent_create", { ...wish, agent: "secret_one" })).error).toMatch(
      /Available: reviewer\.$/,
    );
    expect((await family.call("subagent_create", { ...wish, agent: "later" })).success).toBe(false);
    expect(await family.children()).toEqual([]);
    await family.call("subagent_create", { ...wish, agent: "secret_one" }, { byCode: true });
    await family.setVariable(family.parent.id, "LATER", " YES ");
    await family.call("subagent_create", { ...wish, agent: "later" });
    expect((await family.children()).map(({ agent }) => agent)).toEqual(["secret_one", "later"]);
  });

  it("names the arguments that its schema asks for", async () => {
    const family = await newFamily({ parent: { a: [relationship("reviewer")] }, reviewer: { schema } });
    const returned = await family.call("subagent_create", wish);
    expect(returned.metadata).toMatchObject({
      error_code: "subagent_arguments_required",
      error_data: { agent: "reviewer", required: ["topic"] },
    });
    expect(returned.error).toContain("topic");
    expect(await family.children()).toEqual([]);
  });

  it("names the live ones when there are as many as may be, and is created once one of them has ended", async () => {
    const family = await withReviewer({ maxInstances: 1, blocking: false });
    const reference = referenceIn(await family.call("subagent_create", wish));
    const returned = await family.call("subagent_create", wish);
    expect(returned.error).toContain("subagent_message");
    expect(returned.error).toContain(reference);
    expect(await family.children()).toHaveLength(1);
    await family.host.stores.threads.terminate(reference, stop());
    expect((await family.call("subagent_create", wish)).success).toBe(true);
  });

  it("counts those that the same commit is about to create", async () => {
    const family = await withReviewer({ maxInstances: 1, blocking: false });
    const other = await withReviewer({ maxInstances: 1, blocking: false });
    await other.call("subagent_create", wish);
    const [born] = await other.children();
    const before = [
      {
        write: "thread",
        thread: { ...born, ...{ parent_id: family.parent.id, state_version: 1, hash: "h", arguments: null } },
      },
    ];
    const returned = await family.call("subagent_create", wish, { before: before as never });
    expect(returned.metadata).toMatchObject({ error_code: "subagent_limit_reached" });
  });

  it("is not created below sixteen others", async () => {
    const family = await withReviewer({ blocking: false });
    let { parent } = family;
    for (let depth = 0; depth < 16; depth++) {
      Object.assign(family.parent, parent);
      const reference = referenceIn(await family.call("subagent_create", wish));
      parent = (await family.host.stores.threads.get(reference)) ?? parent;
    }
    Object.assign(family.parent, parent);
    const returned = await family.call("subagent_create", wish);
    expect(returned.metadata).toMatchObject({ error_code: "subagent_too_deep" });
  });

  it("is not created below sixteen others of which some are no threads", async () => {
    const family = await withReviewer({ blocking: false });
    let above: string | null = null;
    for (let depth = 0; depth < 16; depth++) {
      const kind = depth % 2 === 0 ? "workflow" : "thread";
      const parts = { parent_id: above, child: null, child_status: null };
      above = await openThread(family.host.stores, { kind, agent: kind === "thread" ? "parent" : "", ...parts });
    }
    Object.assign(family.parent, { parent_id: above });
    const returned = await family.call("subagent_create", wish);
    expect(returned.metadata).toMatchObject({ error_code: "subagent_too_deep" });
  });
});

describe("the only instance that is waited for", () => {
  it("goes on instead of being created again, in the second generation alone", async () => {
    const family = await withReviewer({ maxInstances: 1, generation: 2 });
    await family.call("subagent_create", wish);
    const id = (await family.children())[0]?.id ?? "";
    const returned = await family.call(
      "subagent_create",
      { ...wish, message: "Once more." },
      { requestId: "request-2" },
    );
    expect(returned).toMatchObject({ status: "runtime_tool_pending", metadata: { subagent_id: id } });
    expect(await family.children()).toHaveLength(1);
    expect((await family.inbox(id)).map(({ content }) => content)).toEqual(["Read it.", "Once more."]);
  });

  it("of the first generation is an error", async () => {
    const family = await withReviewer({ maxInstances: 1, generation: 1 });
    await family.call("subagent_create", wish);
    expect(await family.call("subagent_create", wish)).toMatchObject({
      metadata: { error_code: "subagent_limit_reached" },
    });
  });
});

describe("the variables of a child", () => {
  const token = { name: "TOKEN", scoped: true };

  it("are those of its parent, except what is scoped to it", async () => {
    const family = await newFamily({
      parent: { a: [relationship("reviewer", { blocking: false })] },
      reviewer: { variables: [token] },
    });
    for (const name of ["REGION", "TOKEN", "TOKEN__2"]) await family.setVariable(family.parent.id, name, `my ${name}`);
    const reference = referenceIn(await family.call("subagent_create", wish));
    expect(await family.variables(reference)).toEqual({ REGION: "my REGION" });
    expect(await family.host.stores.state.variables(reference)).toMatchObject([{ inherited: true, type: "secret" }]);
  });

  it("pass on to its own children what it has for itself", async () => {
    const nested = relationship("helper", { immediate: { scopedEnv: [] } });
    const family = await newFamily({
      parent: { a: [relationship("reviewer", { blocking: false, immediate: { scopedEnv: ["TOKEN"] } })] },
      reviewer: { variables: [token], a: [nested] },
      helper: {},
    });
    await family.setVariable(family.parent.id, "TOKEN", "for the reviewer");
    const { immediateChildren } = await import("./immediate.ts");
    const about = { thread: family.parent, agent: family.agent("parent"), run: 0, isNew: true, writes: [] };
    await family.write(...(await immediateChildren(family.host, about)));
    const [reviewer] = await family.children();
    const [helper] = await family.children(reviewer?.id);
    expect(await family.variables(helper?.id ?? "")).toEqual({ TOKEN: "for the reviewer" });
  });
});

const stop = () => ({
  ...({ id: crypto.randomUUID(), kind: "stop", body: '{"reason":"x"}', operation: "stop", payload_hash: "x" } as const),
  ...{ idempotency_key: crypto.randomUUID(), wakes_stopped: true, urgent: true },
});
