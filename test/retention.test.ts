// Promise: what a thread keeps to survive is there as long as it is needed and no longer; what somebody still waits for is
// never taken away, and what is taken away can be told from what was lost.
import { expect, it } from "vitest";
import { verifyAudit } from "../src/contracts/audit/verify-audit.ts";
import * as principals from "../src/contracts/trust/principal.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, type World } from "./databases.ts";

const HOUR = 3_600_000;

const talker = agent({ slug: "talker", model: () => says("Hello.") });
const asker = agent({
  slug: "asker",
  model: scriptedModel([callsTool("shop/refund", {}), says("Done.")]),
  tools: [tool({ name: "shop/refund", description: "Refunds.", actionPolicy: "preview", execute: () => "refunded" })],
});

/** As if all this had happened some hours ago. */
async function letPass(world: World, hours: number): Promise<void> {
  await world.sql(`update threads set updated_at = updated_at - ${hours * HOUR * 1_000}`);
}

eachDatabase((newWorld) => {
  it("removes threads that rest for so long, and no others", async () => {
    const world = await newWorld();
    const holdfast = await world.open([talker, asker]);
    const { threads } = holdfast;
    const [old, stopped, recent, waiting] = await Promise.all([
      threads.open("old", { agent: "talker", consent: { store_transcript: true } }),
      threads.open("stopped", { agent: "talker" }),
      threads.open("recent", { agent: "talker" }),
      threads.open("waiting", { agent: "asker" }),
    ]);
    for (const thread of [old, stopped, recent, waiting]) await thread.send("Hi.");
    await stopped.stop();
    await letPass(world, 3);
    await recent.send("Still here.");

    expect(await threads.prune({ idleMs: 4 * HOUR })).toEqual([]);
    expect((await threads.prune({ idleMs: 2 * HOUR })).toSorted()).toEqual([old.id, stopped.id].toSorted());

    expect((await threads.list()).map(({ key }) => key).toSorted()).toEqual(["recent", "waiting"]);
    // What somebody agreed to have kept is no record of the thread.
    expect(await holdfast.sessions.get(old.id)).toMatchObject({
      messages: [{ content: "Hi." }, { content: "Hello." }],
    });
    const exported = await holdfast.audit.export();
    const told: (readonly number[])[] = [];
    const onProgress = (...counts: readonly number[]) => told.push(counts);
    expect(verifyAudit(exported, holdfast.audit.publicKey, { onProgress })).toMatchObject({ ok: true, threads: 2 });
    expect(told).toEqual([0, 1, 2].map((done) => [done, 2]));
    const fails = () => {
      throw new Error("The terminal is gone.");
    };
    expect(verifyAudit(exported, holdfast.audit.publicKey, { onProgress: fails })).toMatchObject({ ok: true });
    await threads.delete(recent.id);
  });

  it("deletes some at a time, and says while there may be more", async () => {
    const world = await newWorld();
    const { threads, abilities } = await world.open([talker], { trust: { administrators: [1] } });
    const principal = principals.userSession(1, "talker");
    const opened = await Promise.all(["a", "b", "c"].map((key) => threads.open(key, { agent: "talker" })));
    for (const thread of opened) await thread.send("Hi.");
    await letPass(world, 3);
    const prune = (more: object) =>
      abilities.call(
        "holdfast/prune-threads",
        { idle_ms: HOUR, limit: 2, ...more },
        { principal, door: "cli" },
      ) as Promise<{
        readonly deleted: readonly string[];
        readonly next?: string;
      }>;

    const would = await prune({ dry_run: true });
    const first = await prune({});
    expect(first).toEqual(would);
    expect(first).toEqual({ deleted: [expect.any(String), expect.any(String)], next: first.deleted[1] });
    const { deleted, ...rest } = await prune({ after: first.next });
    expect(rest).toEqual({});
    expect([...first.deleted, ...deleted].toSorted()).toEqual(opened.map(({ id }) => id).toSorted());
    expect(await prune({ limit: 0 })).toMatchObject({ code: "invalid_input" });
    expect(await threads.list()).toEqual([]);
  });

  it("leaves what is queued, what is asked, and a parent whose child is at work", async () => {
    const world = await newWorld();
    const holdfast = await world.open([talker]);
    const stopped = await holdfast.threads.open("stopped", { agent: "talker" });
    await stopped.send("Hi.");
    await stopped.stop();
    await stopped.queueMessage("For later.");
    const many = await Promise.all(
      Array.from({ length: 3 }, (_, index) => holdfast.threads.open(`t${index}`, { agent: "talker" })),
    );
    for (const thread of many) await thread.send("Hi.");
    const stores = await world.stores();
    const busy = many[0]?.id ?? "";
    await stores.writes.apply(busy, [
      {
        ...{ write: "request", thread_id: busy, run: 1 },
        request: {
          ...{ id: "variables", call: 0, kind: "variables", tool_name: "x", shown: "{}", sealed: "", binding: "" },
          expires_after: null,
        },
      },
    ]);
    await letPass(world, 3);

    const pruned = await holdfast.threads.prune({ idleMs: HOUR });
    expect(pruned.toSorted()).toEqual(
      many
        .slice(1)
        .map(({ id }) => id)
        .toSorted(),
    );
    await expect(holdfast.threads.prune(undefined as never)).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("leaves what somebody came back to in the last moment", async () => {
    const world = await newWorld();
    const holdfast = await world.open([talker]);
    const thread = await holdfast.threads.open("t", { agent: "talker" });
    await thread.send("Hi.");
    await letPass(world, 3);
    const { threads } = await world.stores();
    expect(await threads.idle({ for_us: 2 * HOUR * 1_000, limit: 10 })).toEqual([thread.id]);
    await thread.send("I am back.");

    expect(await threads.delete(thread.id, "retention", 2 * HOUR * 1_000)).toEqual([]);
    expect(await thread.messages()).toHaveLength(4);
  });

  it("is looked after now and then by itself", async () => {
    const world = await newWorld();
    const first = await world.open([talker]);
    const thread = await first.threads.open("t", { agent: "talker" });
    await thread.send("Hi.");
    await first.close();
    await letPass(world, 3);

    const holdfast = await world.open([talker], {
      housekeeping: { everyMs: 20, retention: { threadIdleMs: 2 * HOUR } },
    });
    await expect.poll(() => holdfast.threads.list()).toEqual([]);
    await expect.poll(async () => (await holdfast.audit.checkpoints()).length).toBeGreaterThan(0);
    await holdfast.close();
  });

  it("refuses times that are none", async () => {
    const world = await newWorld();
    await expect(world.open([talker], { housekeeping: { everyMs: 0 } })).rejects.toMatchObject({
      code: "invalid_argument",
    });
    await expect(world.open([talker], { housekeeping: { retention: { threadIdleMs: -1 } } })).rejects.toMatchObject({
      code: "invalid_argument",
    });
    const holdfast = await world.open([talker]);
    await expect(holdfast.threads.prune({ idleMs: Number.NaN })).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
