// Promise: all that is remembered about a person can be forgotten at once, by whoever may, and nothing that is somebody else's.
import { expect, it, onTestFinished } from "vitest";
import { createMemoryStore } from "../src/backend/sql/memories.ts";
import { migrate } from "../src/backend/sql/migrate.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { verifyAudit } from "../src/contracts/audit/verify-audit.ts";
import * as principal from "../src/contracts/trust/principal.ts";
import { memoryScope } from "../src/memory/scope-of-layer.ts";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase, sqliteWorld } from "./databases.ts";

const desk = agent({ slug: "desk", model: () => "Hello." });
const place = { workspace: { workspace_type: "site", workspace_id: "shop" } };
const trust = { holdsCapability: () => true };

const own = memoryScope("user", "name", { user_id: 7 });
const noted = memoryScope("principal", "tone", { ...place, user_id: 7, agent_id: 3 });
const others = memoryScope("user", "name", { user_id: 8 });
const everybodys = memoryScope("workspace", "hours", place);
const all = [own, noted, others, everybodys];

const SECRET = { scope: "private_user_workspace_memory", title: "Tea", content: "Green, please." } as const;

eachDatabase((newWorld) => {
  it("forgets what is remembered about a user in every layer and workspace", async () => {
    const { memories } = await (await newWorld()).open(desk);
    for (const scope of all) await memories.write(scope, "tea");
    const left = async () => await Promise.all(all.map((scope) => memories.exists(scope)));

    expect(await memories.forgetAll({ user_id: 7, ...place })).toBe(1);
    expect(await left()).toEqual([true, false, true, true]);
    expect(await memories.forgetAll({ user_id: 7 })).toBe(1);
    expect(await memories.forgetAll({ user_id: 7 })).toBe(0);
    expect(await left()).toEqual([false, false, true, true]);
    expect(await memories.search(own, "tea")).toEqual([]);
    expect(await memories.forgetAll(place)).toBe(1);
    expect(await left()).toEqual([false, false, true, false]);
  });

  it("forgets what is private to a user among the guidelines, and leaves what is shared", async () => {
    const { guidelines } = await (await newWorld()).open(desk, { trust });
    const as = (user: number) => principal.userSession(user, "desk");
    const share = { ...SECRET, scope: "workspace_shared_guidance" } as const;
    for (const user of [7, 8]) {
      for (const workspace_id of ["shop", "office"]) {
        await guidelines?.create(as(user), { ...SECRET, workspace_id });
        await guidelines?.create(as(user), { ...share, workspace_id });
      }
    }
    const left = async (user: number) =>
      await Promise.all(["shop", "office"].map((workspace_id) => guidelines?.count(as(user), { workspace_id })));

    expect(await guidelines?.forgetAll({ user_id: 7, workspace_id: "shop" })).toBe(1);
    expect([await left(7), await left(8)]).toEqual([
      [2, 3],
      [3, 3],
    ]);
    expect(await guidelines?.forgetAll({ user_id: 7 })).toBe(1);
    expect([await left(7), await left(8)]).toEqual([
      [2, 2],
      [3, 3],
    ]);
  });

  it("forgets nothing where nobody is named, or somebody that there cannot be", async () => {
    const { memories, guidelines } = await (await newWorld()).open(desk, { trust });
    for (const scope of all) await memories.write(scope, "tea");
    await guidelines?.create(principal.userSession(7, "desk"), { ...SECRET, workspace_id: "shop" });
    const nobody = [{}, { user_id: 0 }, { user_id: "7" }, { agent_id: -1 }, { user: 7, ...place }, [], null, undefined];
    const refused = { code: "invalid_argument" };

    for (const of of nobody) {
      await expect(memories.forgetAll(of as never), JSON.stringify(of)).rejects.toMatchObject(refused);
      await expect(guidelines?.forgetAll(of as never), JSON.stringify(of)).rejects.toMatchObject(refused);
    }
    await expect(guidelines?.forgetAll({ user_id: 7, workspace_id: "" })).rejects.toMatchObject(refused);
    await expect(memories.forgetAll({ workspace: { workspace_type: "site" } as never })).rejects.toMatchObject({
      code: "invalid_agent_workspace_scope",
    });

    expect(await Promise.all(all.map((scope) => memories.exists(scope)))).toEqual([true, true, true, true]);
    expect(await guidelines?.count(principal.userSession(7, "desk"), { workspace_id: "shop" })).toBe(1);
  });
});

eachDatabase((newWorld) => {
  it("erases the runs of workflows that acted for the user, and leaves those that have not ended", async () => {
    const world = await newWorld();
    const holdfast = await world.open(desk);
    const { workflows, memories, audit } = holdfast;
    const ask = { id: "ask", type: "agent", agent: "desk", message: "I am Anna." };
    const ended = async (user: number, workspace?: object) => {
      const options = { principal: principal.userSession(user, "desk"), ...(workspace && { workspace }) };
      const run = await workflows.start({ id: "w", steps: [ask] }, {}, options as never);
      await run.result();
      return run;
    };
    const own = await ended(7);
    const again = await own.rerun({});
    await again.result();
    const inShop = await ended(7, place.workspace);
    const others = await ended(8);
    const live = await workflows.start(
      { id: "w", steps: [{ id: "wait", type: "wait", event: "go" }] },
      {},
      {
        principal: principal.userSession(7, "desk"),
      },
    );
    const left = async () => (await workflows.runs()).map(({ run_id }) => run_id).toSorted();

    await memories.forgetAll({ user_id: 7, agent_id: 3 });
    await memories.forgetAll(place);
    expect((await left()).length).toBe(5);
    await memories.forgetAll({ user_id: 7, ...place });
    expect(await left()).toEqual([own, again, others, live].map(({ id }) => id).toSorted());
    await memories.forgetAll({ user_id: 7 });
    expect(await left()).toEqual([others, live].map(({ id }) => id).toSorted());
    const exported = await audit.export();
    expect(verifyAudit(exported, audit.publicKey)).toMatchObject({ ok: true });
    const gone = exported.tombstones.filter(({ reason }) => reason === "forgotten").map(({ thread }) => thread);
    expect(gone).toEqual(expect.arrayContaining([own.id, again.id, inShop.id]));
    // The thread of the agent went with each of them.
    expect(gone.length).toBe(6);
    await live.send("go");
    await live.result();
    await memories.forgetAll({ user_id: 7 });
    expect(await left()).toEqual([others.id]);
  });
});

it("leaves the memories of agents where they are found, with a gateway as well", async () => {
  const world = await sqliteWorld();
  const trusted = { administrators: [1] };
  const { abilities } = await world.open(desk, { gateway: { plugins: {} }, trust: trusted });
  const caller = { principal: principal.userSession(1, "desk"), door: "http" } as const;
  const place = { layer: "principal", agent: "desk" };
  expect(await abilities.call("holdfast/list-memories", place, caller)).toMatchObject({ memories: [] });
});

it("leaves it to the store that a host brings, if that knows how", async () => {
  const world = await sqliteWorld();
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  await migrate(driver);
  const { forgetAll, ...store } = createMemoryStore(driver);
  await store.write(own, "tea");
  const unable = await world.open(desk, { memory: { store } });
  const refused = { code: "memory_forget_unavailable" };
  await expect(unable.memories.forgetAll({ user_id: 7 })).rejects.toMatchObject(refused);
  await unable.close();

  const { memories } = await world.open(desk, { memory: { store: { ...store, forgetAll } } });
  expect(await memories.exists(own)).toBe(true);
  expect(await memories.forgetAll({ user_id: 7 })).toBe(1);
  expect(await memories.exists(own)).toBe(false);
});
