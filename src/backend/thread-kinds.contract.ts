// What is promised of rows that are leased as threads are, and are none, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aBegunCall, aCommit, anEntry, aRequest, aThread, MINUTE } from "./contract/a-commit.ts";
import { aLink, aStop, openChild, written } from "./contract/a-write.ts";
import { claim, heardOn, nextDue, openThread, type StoresInTest, WORKER } from "./contract/stores-in-test.ts";
import type { Claimed, Wanted } from "./engine.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { NewThread } from "./thread-store.ts";

const WORKFLOWS: Wanted = { kind: "workflow", state_version: 1 };

export function describeThreadKinds(name: string, open: () => Promise<StoresInTest>): void {
  describe(`rows of another kind than threads on ${name}`, () => {
    let stores: Stores;
    let driver: SqlDriver;

    beforeEach(async () => {
      ({ stores, driver } = await open());
    });

    const openRun = (parts: Partial<NewThread> = {}) => openThread(stores, { kind: "workflow", agent: "", ...parts });

    async function dueRun(parts: Partial<NewThread> = {}): Promise<string> {
      const id = await openRun(parts);
      await stores.inbox.put(id, anEntry());
      return id;
    }

    async function claimRuns(parts: { readonly full?: readonly string[] } = {}): Promise<readonly Claimed[]> {
      return await stores.engine.claim({
        ...{ worker: WORKER, limit: 100, lease_us: MINUTE, except: [] },
        ...{ ...WORKFLOWS, ...parts },
      });
    }

    async function heldRun(parts: Partial<NewThread> = {}): Promise<Claimed> {
      const id = await dueRun(parts);
      const own = (await claimRuns()).find((each) => each.id === id);
      if (!own) throw new Error(`The run ${id} could not be taken.`);
      return own;
    }

    const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

    describe("the engine", () => {
      it("hands each kind to whoever claims that kind, whatever agents there are", async () => {
        const run = await dueRun();
        const thread = await openThread(stores);
        await stores.inbox.put(thread, anEntry());
        const agents = ["support", ""];
        expect(ids(await claim(stores, { agents }))).toEqual([thread]);
        expect(await claim(stores, { agents })).toEqual([]);
        expect(await nextDue(stores, { agents })).toBeNull();
        expect(await stores.engine.nextDue(WORKFLOWS)).toBe(0);
        expect(ids(await claimRuns())).toEqual([run]);
        expect(await claimRuns()).toEqual([]);
        expect(await stores.engine.nextDue(WORKFLOWS)).toBeNull();
      });

      it("does not count the threads of no agent as rows of another kind, nor the other way round", async () => {
        await dueRun();
        expect(await claim(stores, { agents: [] })).toEqual([]);
        expect(await nextDue(stores, { agents: [] })).toBeNull();
      });

      it("leaves what was written by a newer version, and what tenants have too much of", async () => {
        const subject = { principal: "{}", workspace_type: null, workspace_id: null, context: "chat", consent: "{}" };
        const owned = { ...subject, owner_type: "user", owner_key: "1" };
        const [newer, own] = [await dueRun({ state_version: 2 }), await dueRun({ subject: owned })];
        expect(await claimRuns({ full: ["user 1"] })).toEqual([]);
        expect(ids(await claimRuns())).toEqual([own]);
        const claimed = await stores.engine.claim({
          ...{ worker: WORKER, limit: 9, lease_us: MINUTE, except: [] },
          ...{ ...WORKFLOWS, state_version: 2 },
        });
        expect(ids(claimed)).toEqual([newer]);
      });

      it("renews, wakes and gives back as for threads", async () => {
        const { id, epoch } = await heldRun();
        const [held] = await stores.engine.renew(WORKER, [id], MINUTE);
        expect(held).toEqual({ id, epoch, wake_rev: 1 });
        await stores.engine.giveBack({ id, epoch, wake_rev: 1 }, null);
        expect(await stores.engine.nextDue(WORKFLOWS)).toBeNull();
        await stores.inbox.put(id, anEntry());
        expect(ids(await claimRuns())).toEqual([id]);
      });

      it("is signalled whatever is left for a row that it holds, and of threads what is urgent", async () => {
        const [run, thread] = [(await heldRun()).id, await openThread(stores)];
        await stores.inbox.put(thread, anEntry());
        await claim(stores);
        for (const id of [run, thread]) {
          const requests = ["submitted", "answered"].map((each) => waiting(`${each} ${id}`));
          const asked = requests.map((request) => ({ write: "request", thread_id: id, run: 1, request }) as const);
          await written(stores, id, ...asked);
        }
        const heard = await heardOn(driver);
        const left = async (leave: (id: string) => Promise<unknown>) => {
          for (const id of [run, thread]) await leave(id);
          return await heard.all();
        };
        const answer = { body: "{}", payload_hash: "hash" };
        expect(await left((id) => stores.inbox.put(id, anEntry()))).toEqual([run]);
        expect(await left((id) => stores.requests.submit(`submitted ${id}`, { ...answer, mac: "mac" }))).toEqual([run]);
        for (const write of [
          (id: string) => ({ write: "entry", thread_id: id, entry: anEntry() }) as const,
          (id: string) => ({ write: "answer", thread_id: id, request_id: `answered ${id}`, ...answer }) as const,
        ]) {
          expect(await left((id) => written(stores, id, write(id)))).toEqual([run]);
        }
        expect(await left((id) => stores.inbox.put(id, anEntry({ urgent: true })))).toEqual([run, thread]);
      });

      it("lets a row that got stuck try again, and tells a parent that waits for it in words of its own", async () => {
        await openThread(stores, { id: "parent" });
        await written(stores, "parent", { write: "request", thread_id: "parent", run: 1, request: waiting("request") });
        const child = aLink({ blocking: true, request_id: "request" });
        const { id, epoch } = await heldRun({ parent_id: "parent", child, child_status: "running" });
        await stores.engine.markStuck(id, epoch);
        expect(await stores.threads.load(id)).toMatchObject({ thread: { status: "stuck", child_status: "failed" } });
        const { answer } = (await stores.requests.get("request")) ?? {};
        expect(JSON.parse(answer ?? "null").error).toMatch(/^The workflow got stuck: /);
        expect(await claimRuns()).toEqual([]);
        expect(await stores.engine.retry(id)).toBe(true);
        expect(ids(await claimRuns())).toEqual([id]);
      });
    });

    const waiting = (id: string) => aRequest({ id, kind: "child", tool_name: "run" });

    describe("lists, counts and metrics of threads", () => {
      it("do not know of it", async () => {
        const before = await stores.metrics.read();
        const held = await heldRun({ id: "run", key: "run key" });
        const ended = { change: "ended", number: 0, phase: "unknown", outcome: "{}", message_seq: 0 } as const;
        await stores.threads.commit(aCommit(held, { status: "waiting", calls: [aBegunCall(0), ended] }));
        const stuck = await heldRun();
        await stores.engine.markStuck(stuck.id, stuck.epoch);
        await dueRun();
        expect(await stores.metrics.read()).toEqual(before);
        expect(await stores.metrics.overdue({ for_us: 0, limit: 9 })).toEqual([]);
        for (const query of [
          {},
          { status: "waiting" },
          { status: "stuck" },
          { status: "idle" },
          { agent: "" },
        ] as const) {
          expect(await stores.threads.list(query)).toEqual([]);
        }
        expect(await stores.threads.list({ parent: null })).toEqual([]);
        expect(await stores.threads.unknownCalls(9)).toEqual([]);
        expect(await stores.threads.get("run")).toBeUndefined();
        expect(await stores.threads.glance("run")).toBeUndefined();
        expect(await stores.threads.byKey("run key")).toBeUndefined();
      });

      it("do not begin behind it", async () => {
        await openRun({ id: "run" });
        await openThread(stores);
        expect(await stores.threads.list({ after: "run" })).toEqual([]);
      });

      it("know children that are threads alone, unless all are asked for", async () => {
        await openThread(stores, { id: "parent" });
        await openRun({ id: "run", parent_id: "parent", child: aLink() });
        await openChild(stores, "parent", { id: "child" });
        expect(ids(await stores.threads.children("parent", {}))).toEqual(["child"]);
        expect(ids(await stores.threads.children("parent", { ofAnyKind: true }))).toEqual(["run", "child"]);
        expect(await stores.threads.liveChildren("parent", null)).toBe(1);
        expect(await stores.threads.liveChildren("parent", "helper")).toBe(1);
        const room = { relationship: "helper", most: 2 };
        await written(stores, "parent", { write: "request", thread_id: "parent", run: 1, request: waiting("request") });
        expect(await stores.writes.apply("parent", [], { request_id: "request", room })).toBe("written");
      });

      it("offer no history to be forked", async () => {
        const held = await heldRun({ id: "run" });
        await stores.threads.commit(aCommit(held, { event: { settled: true } }));
        const fork = { id: "fork", key: "fork", from: "run", at: 0, hash: "hash", records: "[]" };
        expect(await stores.threads.fork(fork)).toBe("not_settled");
        expect(await stores.threads.list({})).toEqual([]);
      });
    });

    it("is loaded, committed to and watched by its id", async () => {
      const held = await heldRun({ id: "run" });
      await stores.threads.commit(aCommit(held, { state: "{}", drained: [1] }));
      const thread = { id: "run", kind: "workflow", agent: "", status: "running", next_seq: 1 };
      expect(await stores.threads.load("run")).toMatchObject({ thread, state: "{}" });
      expect(await stores.threads.progress(["run"])).toMatchObject([{ id: "run", next_seq: 1 }]);
    });

    it("is opened once by its key, which no thread may have", async () => {
      const run = aThread({ kind: "workflow", agent: "", key: "key" });
      expect(await stores.threads.open(run)).toMatchObject({ outcome: "opened", thread: { kind: "workflow" } });
      expect(await stores.threads.open(run)).toMatchObject({ thread: { id: run.id } });
      expect(await stores.threads.open({ ...run, id: "other" })).toMatchObject({
        outcome: "known",
        thread: { id: run.id },
      });
      await expect(stores.threads.open(aThread({ key: "key" }))).rejects.toThrow("neither opened nor found");
      await openThread(stores, { key: "of a thread" });
      await expect(openRun({ key: "of a thread" })).rejects.toThrow("neither opened nor found");
    });

    describe("a tree of both kinds", () => {
      beforeEach(async () => {
        await openThread(stores, { id: "thread" });
        await openRun({ id: "run", parent_id: "thread", child: aLink(), child_status: "running" });
        await openChild(stores, "run", { id: "below" });
        await openRun({ id: "deep", parent_id: "below", child: aLink() });
      });

      it("is known from below, the nearest first, and from above", async () => {
        const above = await stores.threads.ancestors("deep");
        expect(above.map(({ id, kind }) => [id, kind])).toEqual([
          ["below", "thread"],
          ["run", "workflow"],
          ["thread", "thread"],
        ]);
        expect(above[0]).toEqual(await stores.threads.get("below"));
        expect(await stores.threads.ancestors("thread")).toEqual([]);
        expect(await stores.threads.ancestors("nobody")).toEqual([]);
        expect(ids(await stores.threads.descendants("thread"))).toEqual(["run", "below", "deep"]);
      });

      it("is terminated together, from a thread or from a run", async () => {
        const ended = async () => {
          const found = await Promise.all(["thread", "run", "below", "deep"].map((id) => stores.threads.load(id)));
          return found.flatMap((loaded) => (loaded?.thread.terminated_at == null ? [] : [loaded.thread.id]));
        };
        expect(await stores.threads.terminate("run", aStop())).toMatchObject({ id: "run", status: "terminated" });
        expect(await ended()).toEqual(["run", "below", "deep"]);
        expect(ids(await claimRuns()).sort()).toEqual(["deep", "run"]);
        await stores.threads.terminate("thread", aStop());
        expect(await ended()).toEqual(["thread", "run", "below", "deep"]);
      });

      it("tells a parent that waits for a run of its end", async () => {
        await written(stores, "thread", { write: "request", thread_id: "thread", run: 1, request: waiting("request") });
        const link = { parent_id: "thread", child: aLink({ request_id: "request" }) };
        await stores.threads.terminate(await openRun(link), aStop());
        const { answer } = (await stores.requests.get("request")) ?? {};
        expect(answer).toBe('{"success":false,"error":"The workflow was terminated."}');
      });

      it("is deleted together, and all of it is proved to be gone", async () => {
        const heads = (await stores.audit.changedHeads()).map(({ thread }) => thread);
        expect(heads).toEqual(["below", "deep", "run", "thread"]);
        expect([...(await stores.threads.delete("run", "asked"))].sort()).toEqual(["below", "deep", "run"]);
        expect((await stores.audit.tombstones()).map(({ thread }) => thread).sort()).toEqual(["below", "deep", "run"]);
        expect(await stores.threads.delete("thread")).toEqual(["thread"]);
        expect(await driver.all("select id from threads")).toEqual([]);
      });

      it("rests with a run in it once that is terminated and has nothing more to do", async () => {
        // Never negative: everything rests for longer than that.
        const idle = { for_us: -MINUTE, limit: 9 };
        expect(await stores.threads.idle(idle)).toEqual([]);
        expect(await stores.threads.delete("thread", "retention", -MINUTE)).toEqual([]);
        await stores.threads.terminate("run", aStop());
        expect(await stores.threads.idle(idle)).toEqual([]);
        for (const { id, epoch } of [...(await claimRuns()), ...(await claim(stores))]) {
          const settle = { wake_rev: 1, due_after: null };
          await stores.threads.commit(aCommit({ id, epoch }, { status: "terminated", drained: [1], settle }));
        }
        expect(await stores.threads.idle(idle)).toEqual(["thread"]);
        expect(await stores.threads.delete("thread", "retention", -MINUTE)).toHaveLength(4);
      });

      it("is never found idle by a run that nothing stands above", async () => {
        await stores.threads.terminate("thread", aStop());
        await stores.threads.delete("thread");
        await openRun();
        expect(await stores.threads.idle({ for_us: -MINUTE, limit: 9 })).toEqual([]);
      });
    });
  });
}
