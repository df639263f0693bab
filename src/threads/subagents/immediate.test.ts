import { describe, expect, it } from "vitest";
import { type Family, newFamily, relationship } from "../../../test/family.ts";
import { createEntry } from "../new-entry.ts";
import { immediateChildren } from "./immediate.ts";

async function activate(family: Family, { isNew = false } = {}): Promise<void> {
  const about = { thread: family.parent, agent: family.agent("parent"), run: 0, isNew, writes: [] };
  const writes = await immediateChildren(family.host, about);
  if (writes.length > 0) await family.write(...writes);
}

const atOnce = { immediate: { scopedEnv: [] } };
const perAccount = { immediate: { scopedEnv: ["TOKEN"], nameEnv: "ACCOUNT", descriptionEnv: "TASK" } };

const namesOf = async (family: Family, parentId?: string) =>
  (await family.children(parentId)).map(({ child }) => child?.thread_name);

describe("children that nobody asks for", () => {
  it("are there without a message, with theirs, on both sides", async () => {
    const family = await newFamily({
      parent: { a: [relationship("x", atOnce)], b: [relationship("z", atOnce)] },
      x: { a: [relationship("y", atOnce)] },
      ...{ y: {}, z: {} },
    });
    await activate(family, { isNew: true });
    const [x, z] = await family.children();
    expect(x).toMatchObject({ agent: "x", child_status: "idle", child: { side: "a", request_id: null } });
    expect(z).toMatchObject({ agent: "z", child: { side: "b" } });
    expect(await family.children(x?.id)).toMatchObject([{ agent: "y", user_id: "user-1" }]);
    expect(await family.inbox(x?.id ?? "")).toEqual([]);
  });

  it("begin at once when they cannot be written to later", async () => {
    const family = await newFamily({ parent: { a: [relationship("x", { ...atOnce, resumable: false })] }, x: {} });
    await activate(family);
    const [x] = await family.children();
    expect(x).toMatchObject({ child_status: "running" });
    expect(await family.inbox(x?.id ?? "")).toMatchObject([{ kind: "message" }]);
  });

  it("are not created again while one is live", async () => {
    const family = await newFamily({ parent: { a: [relationship("x", atOnce)] }, x: {} });
    await activate(family, { isNew: true });
    await activate(family);
    const [x, more] = await family.children();
    expect(more).toBeUndefined();
    await family.host.stores.threads.terminate(x?.id ?? "", createEntry.stop("Enough."));
    await activate(family);
    expect(await family.children()).toHaveLength(2);
  });

  it("are not there while their flag is off", async () => {
    const family = await newFamily({ parent: { a: [relationship("x", { ...atOnce, optional: "X" })] }, x: {} });
    await activate(family);
    expect(await family.children()).toEqual([]);
    await family.setVariable(family.parent.id, "X", "yes");
    await activate(family);
    expect(await family.children()).toHaveLength(1);
  });

  it("are as many as there are values for, which the parent gives away", async () => {
    const family = await newFamily({
      parent: { a: [relationship("x", perAccount)] },
      x: { variables: [{ name: "TOKEN", required: true, scoped: true }] },
    });
    const { id } = family.parent;
    const values = {
      ...{ TOKEN: "t1", ACCOUNT: " Ada \n L. ", TASK: "Read mail." },
      ...{ TOKEN__2: "t2", ACCOUNT__2: "Bea", REGION: "eu" },
    };
    for (const [name, value] of Object.entries(values)) await family.setVariable(id, name, value);
    await activate(family);
    expect(await family.variables(id)).toEqual({ REGION: "eu" });
    const [ada, bea] = await family.children();
    expect(await namesOf(family)).toEqual(["Ada L.", "Bea"]);
    expect(await family.variables(ada?.id ?? "")).toMatchObject({ TOKEN: "t1", REGION: "eu" });
    expect(Object.values(await family.variables(ada?.id ?? ""))).not.toContain("t2");
    expect(await family.variables(bea?.id ?? "")).toEqual({ TOKEN: "t2", ACCOUNT: "Bea", REGION: "eu" });
    expect(await family.inbox(ada?.id ?? "")).toMatchObject([{ kind: "message", content: "Read mail." }]);
    expect(bea?.child_status).toBe("idle");
    // A second activation finds no values and creates nobody.
    await activate(family);
    expect(await family.children()).toHaveLength(2);
  });

  it("are no more than there may be, and the other values are kept", async () => {
    const family = await newFamily({ parent: { a: [relationship("x", { ...perAccount, maxInstances: 2 })] }, x: {} });
    const { id } = family.parent;
    for (const name of ["TOKEN__10", "TOKEN__2", "TOKEN"]) await family.setVariable(id, name, name);
    await activate(family);
    expect(await family.children()).toHaveLength(2);
    expect(await family.variables(id)).toEqual({ TOKEN__10: "TOKEN__10" });
  });

  it("wait as a request for the variables that nobody has set, once", async () => {
    const family = await newFamily({
      parent: { a: [relationship("x", atOnce)] },
      x: { variables: [{ name: "TOKEN", required: true, scoped: true }] },
    });
    await activate(family);
    await activate(family);
    const pending = await family.host.stores.requests.list({ thread_id: family.parent.id });
    expect(pending).toMatchObject([{ kind: "variables", status: "pending" }]);
    expect(await family.children()).toEqual([]);
  });

  it("come to an end although their definitions never would", async () => {
    const family = await newFamily({
      parent: { a: [relationship("x", atOnce)] },
      x: { a: [relationship("x", atOnce)] },
    });
    await expect(activate(family)).rejects.toMatchObject({ code: "subagent_too_deep" });
    expect(await family.children()).toEqual([]);
  });
});
