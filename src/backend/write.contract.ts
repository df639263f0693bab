// What a commit and the write store promise of what they write beside a thread's own history, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, aMessage, anEntry, aRequest, MINUTE } from "./contract/a-commit.ts";
import { aChild, aFile, anEffect, aStop, openChild, written } from "./contract/a-write.ts";
import {
  claim,
  everything,
  heardOn,
  heldThread,
  nextDue,
  openThread,
  type StoresInTest,
} from "./contract/stores-in-test.ts";
import type { Held } from "./engine.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { ThreadStatus } from "./thread-rows.ts";
import type { Write } from "./write.ts";

export function describeWrites(name: string, open: () => Promise<StoresInTest>): void {
  describe(`writes on ${name}`, () => {
    let stores: Stores;
    let driver: SqlDriver;
    let openSecond: StoresInTest["openSecond"];

    beforeEach(async () => {
      ({ stores, driver, openSecond } = await open());
    });

    const commit = (held: Held, seq: number, ...writes: readonly Write[]) =>
      stores.threads.commit(aCommit(held, { seq, writes }));

    /** Laid down until it is woken. */
    async function restingThread(status: ThreadStatus = "idle"): Promise<Held> {
      const held = await heldThread(stores);
      const settle = { wake_rev: held.wake_rev, due_after: null };
      await stores.threads.commit(aCommit(held, { drained: [1], status, settle }));
      return held;
    }

    describe("with a commit", () => {
      it("are written with it, in their order", async () => {
        const held = await heldThread(stores);
        const thread = aChild(held.id, { id: "child", arguments: "sealed" });
        const file = aFile("/a", "text");
        const value = { write: "value", thread_id: held.id, key: "a" } as const;
        const committed = await commit(
          held,
          0,
          { ...value, value: "1" },
          { ...value, value: "2" },
          { write: "thread", thread },
          { write: "file", thread_id: "child", file },
          { write: "entry", thread_id: "child", entry: anEntry({ id: "hello" }) },
          { write: "agent", thread_id: held.id, agent: "sales" },
        );
        expect(committed).toEqual({ outcome: "committed", wake_rev: 1 });
        expect(await stores.state.value(held.id, "a")).toBe("2");
        expect(await stores.threads.get("child")).toMatchObject({ parent_id: held.id, child_status: "running" });
        expect(await stores.threads.arguments("child")).toBe("sealed");
        expect(await stores.files.get("child", "/a")).toMatchObject({ hash: file.hash });
        expect(await stores.inbox.waiting("child")).toMatchObject([{ seq: 1, id: "hello" }]);
        expect(await stores.threads.get(held.id)).toMatchObject({ agent: "sales", origin_agent: "support" });
        expect(await claim(stores)).toMatchObject([{ id: "child" }]);
      });

      it("are not written when the thread was lost, whatever they touch", async () => {
        const held = await heldThread(stores);
        const other = await openThread(stores);
        const before = await everything(driver);
        const entry = { write: "entry", thread_id: other, entry: anEntry() } as const;
        const end = { write: "terminate", thread_id: other, stop: aStop() } as const;
        for (const writes of [[entry], [end], [entry, end]]) {
          const stranger = aCommit(held, { worker: "worker 2", writes });
          expect(await stores.threads.commit(stranger)).toEqual({ outcome: "lost" });
        }
        expect(await everything(driver)).toEqual(before);
      });

      it("are not written when it was overtaken", async () => {
        const held = await heldThread(stores);
        const other = await openThread(stores);
        const before = await everything(driver);
        const writes = [{ write: "entry", thread_id: other, entry: anEntry() } as const];
        const late = aCommit(held, { writes, drained: [1, 2] });
        expect(await stores.threads.commit(late)).toEqual({ outcome: "overtaken" });
        expect(await everything(driver)).toEqual(before);
      });

      it("tell how often the thread was woken, also when others are written to", async () => {
        const held = await heldThread(stores);
        await stores.inbox.put(held.id, anEntry());
        const other = await openThread(stores);
        const entry = { write: "entry", thread_id: other, entry: anEntry() } as const;
        expect(await commit(held, 0, entry)).toEqual({ outcome: "committed", wake_rev: 2 });
      });

      it("make no child under a key that is taken", async () => {
        const held = await heldThread(stores);
        await openThread(stores, { key: "taken" });
        const thread = aChild(held.id, { key: "taken" });
        expect(await commit(held, 0, { write: "thread", thread })).toEqual({ outcome: "overtaken" });
      });

      it("of parents and children at the same time do not get in each other's way", async () => {
        const far = (await openSecond?.())?.stores ?? stores;
        const parent = await heldThread(stores);
        const children = await Promise.all(
          Array.from({ length: 4 }, async () => {
            const id = await openChild(stores, parent.id);
            await stores.inbox.put(id, anEntry());
            return id;
          }),
        );
        const held = (await claim(stores)).map(({ id, epoch }) => ({ id, epoch, wake_rev: 1 }));
        expect(held).toHaveLength(children.length);
        const outcomes: unknown[] = [];
        for (let seq = 0; seq < 5; seq++) {
          const down = children.map((id) => ({ write: "entry", thread_id: id, entry: anEntry() }) as const);
          const up = { write: "entry", thread_id: parent.id } as const;
          const all = [
            stores.threads.commit(aCommit(parent, { seq, writes: down })),
            ...held.map((each) => far.threads.commit(aCommit(each, { seq, writes: [{ ...up, entry: anEntry() }] }))),
          ];
          outcomes.push(...(await Promise.all(all)).map(({ outcome }) => outcome));
        }
        expect(new Set(outcomes)).toEqual(new Set(["committed"]));
        const seqs = (await stores.inbox.waiting(parent.id)).map(({ seq }) => seq);
        expect(seqs).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
      });
    });

    describe("an entry for another thread", () => {
      it("wakes it, and shows what its parent's registry shows of it", async () => {
        const held = await heldThread(stores);
        const child = await openChild(stores, held.id, { child_status: "idle" });
        const heard = await heardOn(driver);
        const write = { write: "entry", thread_id: child, entry: anEntry({ id: "hello" }) } as const;
        await commit(held, 0, { ...write, child_status: "running" });
        expect(await stores.threads.get(child)).toMatchObject({ child_status: "running" });
        expect(await heard.all()).toEqual([child]);
        expect(await claim(stores)).toMatchObject([{ id: child }]);
        await commit(held, 1, { ...write, entry: anEntry({ id: "more" }) });
        expect(await stores.inbox.waiting(child)).toMatchObject([
          { seq: 1, id: "hello" },
          { seq: 2, id: "more" },
        ]);
        expect(await stores.threads.load(child)).toMatchObject({ wake_rev: 2, thread: { child_status: "running" } });
        expect(await heard.all()).toEqual([]);
      });

      it("that is stopped wakes it only if it says so", async () => {
        const stopped = await restingThread("stopped");
        const other = await openThread(stores);
        const write = { write: "entry", thread_id: stopped.id } as const;
        await written(stores, other, { ...write, entry: anEntry() });
        expect(await nextDue(stores)).toBeNull();
        await written(stores, other, { ...write, entry: anEntry({ wakes_stopped: true }) });
        expect(await nextDue(stores)).toBe(0);
      });

      it("that is terminated or gone does nothing, and all else is written", async () => {
        const held = await heldThread(stores);
        const ended = await openChild(stores, held.id);
        await stores.threads.terminate(ended, aStop());
        const before = await everything(driver);
        for (const [seq, thread_id] of [ended, "nobody"].entries()) {
          const entry = { write: "entry", thread_id, entry: anEntry(), child_status: "running" } as const;
          const value = { write: "value", thread_id: held.id, key: "a", value: `${seq}` } as const;
          expect(await commit(held, seq, entry, value)).toMatchObject({ outcome: "committed" });
          expect(await stores.state.value(held.id, "a")).toBe(`${seq}`);
        }
        expect((await everything(driver)).inbox).toEqual(before.inbox);
        expect(await stores.threads.get(ended)).toMatchObject({ child_status: "terminated" });
      });

      it("under a key that was used before does nothing", async () => {
        const [one, other] = [await openThread(stores), await openThread(stores)];
        const entry = { write: "entry", thread_id: other, entry: anEntry() } as const;
        await written(stores, one, entry);
        await written(stores, one, entry, { ...entry, entry: anEntry({ id: "next" }) });
        expect(await stores.inbox.waiting(other)).toMatchObject([{ seq: 1 }, { seq: 2, id: "next" }]);
        expect(await stores.threads.load(other)).toMatchObject({ wake_rev: 2 });
      });
    });

    describe("an answer for another thread", () => {
      const body = '{"success":true,"result":"done"}';

      /** Waits for a child, which somebody holds. */
      async function waitingParent(): Promise<{ parent: string; child: Held; answer: Write }> {
        const held = await heldThread(stores);
        const settle = { wake_rev: held.wake_rev, due_after: null };
        const opened_requests = [aRequest({ id: "request", kind: "child" })];
        await stores.threads.commit(aCommit(held, { drained: [1], status: "waiting", opened_requests, settle }));
        const id = await openChild(stores, held.id, {}, { request_id: "request", blocking: true });
        await stores.inbox.put(id, anEntry());
        const [claimed] = await claim(stores);
        const child = { id, epoch: claimed?.epoch ?? 0, wake_rev: 1 };
        const target = { thread_id: held.id, request_id: "request" };
        return { parent: held.id, child, answer: { write: "answer", ...target, body, payload_hash: "hash" } };
      }

      it("is what a submitted one is", async () => {
        const { parent, child, answer } = await waitingParent();
        const heard = await heardOn(driver);
        expect(await commit(child, 0, answer)).toMatchObject({ outcome: "committed" });
        expect(await stores.requests.get("request")).toMatchObject({
          ...{ status: "answered", answer: body, payload_hash: "hash", kind: "child", ended_at: expect.any(Number) },
        });
        const [entry] = await stores.inbox.waiting(parent);
        expect(entry).toMatchObject({ seq: 2, id: "answer:request", kind: "answer" });
        expect(JSON.parse(entry?.body ?? "")).toEqual({ request_id: "request" });
        expect(await heard.all()).toEqual([parent]);
        expect(await claim(stores)).toMatchObject([{ id: parent }]);
      });

      it("counts the first time", async () => {
        const { parent, child, answer } = await waitingParent();
        await commit(child, 0, answer);
        const before = await everything(driver);
        await commit(child, 1, { ...answer, body: "another", payload_hash: "another" } as Write);
        const after = await everything(driver);
        expect(after.requests).toEqual(before.requests);
        expect(after.inbox).toEqual(before.inbox);
        expect(await stores.threads.load(parent)).toMatchObject({ wake_rev: 2 });
      });

      it("does nothing when nobody waits any more, and all else is written", async () => {
        const { parent, child, answer } = await waitingParent();
        await stores.threads.terminate(parent, aStop());
        const before = await everything(driver);
        const value = { write: "value", thread_id: child.id, key: "a", value: "1" } as const;
        const gone = { ...answer, thread_id: "nobody", request_id: "nothing" } as Write;
        expect(await commit(child, 0, answer, gone, value)).toMatchObject({ outcome: "committed" });
        const after = await everything(driver);
        expect(after.requests).toEqual(before.requests);
        expect(after.inbox).toEqual(before.inbox);
        expect(await stores.state.value(child.id, "a")).toBe("1");
      });

      it("and another one by somebody else at the same time come to one", async () => {
        const { parent, child, answer } = await waitingParent();
        const far = (await openSecond?.())?.stores ?? stores;
        const [submitted] = await Promise.all([
          far.requests.submit("request", { body: "submitted", payload_hash: "submitted", mac: "mac" }),
          commit(child, 0, answer),
        ]);
        const expected = submitted === "submitted" ? "submitted" : body;
        expect(await stores.requests.get("request")).toMatchObject({ status: "answered", answer: expected });
        expect(await stores.inbox.waiting(parent)).toHaveLength(1);
      });
    });

    it("a request that no call waits for is pending, unless the thread is terminated", async () => {
      const held = await heldThread(stores);
      const request = (id: string) =>
        ({ write: "request", thread_id: held.id, run: 3, request: aRequest({ id, kind: "variables" }) }) as const;
      await commit(held, 0, request("one"));
      expect(await stores.requests.get("one")).toMatchObject({ status: "pending", run: 3, kind: "variables" });
      await stores.threads.terminate(held.id, aStop());
      expect(await stores.requests.get("one")).toMatchObject({ status: "cancelled", sealed: null });
      await commit(held, 1, request("two"));
      expect(await stores.requests.get("two")).toBeUndefined();
    });

    it("the status of a child is what it says itself, until it is terminated", async () => {
      const parent = await openThread(stores);
      const child = await openChild(stores, parent);
      const show = (thread_id: string, status: string) => ({ write: "child_status", thread_id, status }) as const;
      await written(stores, parent, show(child, "half way"), show(parent, "nobody's child"));
      expect(await stores.threads.get(child)).toMatchObject({ child_status: "half way" });
      expect(await stores.threads.get(parent)).toMatchObject({ child_status: null });
      await stores.threads.terminate(child, aStop());
      await written(stores, parent, show(child, "running"));
      expect(await stores.threads.get(child)).toMatchObject({ child_status: "terminated" });
    });

    describe("on their own", () => {
      const value = (thread_id: string) => ({ write: "value", thread_id, key: "a", value: "1" }) as const;

      it("need a thread that is there and not terminated", async () => {
        const id = await openThread(stores);
        expect(await stores.writes.apply(id, [value(id)])).toBe("written");
        expect(await stores.writes.apply(id, [])).toBe("written");
        await stores.threads.terminate(id, aStop());
        const before = await everything(driver);
        const stop = { write: "terminate", thread_id: id, stop: aStop() } as const;
        expect(await stores.writes.apply(id, [value(id)])).toBe("terminated");
        expect(await stores.writes.apply(id, [value(id), stop])).toBe("terminated");
        expect(await stores.writes.apply(id, [stop])).toBe("written");
        expect(await stores.writes.apply("nobody", [value("nobody")])).toBe("not_found");
        expect(await stores.writes.apply("nobody", [{ ...stop, thread_id: "nobody" }])).toBe("not_found");
        expect(await everything(driver)).toEqual(before);
      });

      it("end a thread", async () => {
        const id = await openThread(stores);
        expect(await stores.writes.apply(id, [{ write: "terminate", thread_id: id, stop: aStop() }])).toBe("written");
        expect(await stores.threads.get(id)).toMatchObject({ status: "terminated" });
      });

      it("settle the request that they need, once", async () => {
        const held = await heldThread(stores);
        const request = aRequest({ id: "request", kind: "variables" });
        await commit(held, 0, { write: "request", thread_id: held.id, run: 1, request });
        const only = { request_id: "request" };
        const make = () => stores.writes.apply(held.id, [{ write: "thread", thread: aChild(held.id) }], only);
        const outcomes = await Promise.all([make(), make(), make()]);
        expect([...outcomes].sort()).toEqual(["overtaken", "overtaken", "written"]);
        expect(await stores.threads.children(held.id, {})).toHaveLength(1);
        expect(await stores.requests.get("request")).toMatchObject({ status: "settled", sealed: null });
        expect(await stores.writes.apply(held.id, [value(held.id)], { request_id: "nothing" })).toBe("overtaken");
        expect(await stores.state.value(held.id, "a")).toBeUndefined();
      });

      it("make no more children of a relationship than there may be, however many try at once", async () => {
        const held = await heldThread(stores);
        const ids = ["one", "two", "three", "four"];
        const request = (id: string) =>
          ({ write: "request", thread_id: held.id, run: 1, request: aRequest({ id, kind: "variables" }) }) as const;
        await commit(held, 0, ...ids.map(request));
        const ended = await openChild(stores, held.id);
        await stores.threads.terminate(ended, aStop());
        await openChild(stores, held.id, {}, { relationship: "another" });
        const make = (request_id: string) =>
          stores.writes.apply(held.id, [{ write: "thread", thread: aChild(held.id) }], {
            request_id,
            room: { relationship: "helper", most: 2 },
          });

        const outcomes = await Promise.all(ids.map(make));

        expect([...outcomes].sort()).toEqual(["full", "full", "written", "written"]);
        expect(await stores.threads.liveChildren(held.id, "helper")).toBe(2);
        // What was refused may be tried again once there is room.
        const refused = ids[outcomes.indexOf("full")] ?? "";
        expect(await stores.requests.get(refused)).toMatchObject({ status: "pending" });
        const [first] = await stores.threads.children(held.id, { live: true, relationship: "helper" });
        await stores.threads.terminate(first?.id ?? "", aStop());
        expect(await make(refused)).toBe("written");
      });

      it("need a request of that very thread, whose time is not up", async () => {
        const [held, other] = [await heldThread(stores), await openThread(stores)];
        const request = (id: string, expires_after: number) =>
          ({ write: "request", thread_id: held.id, run: 1, request: aRequest({ id, expires_after }) }) as const;
        await commit(held, 0, request("late", 0), request("in time", MINUTE));
        expect(await stores.writes.apply(other, [], { request_id: "in time" })).toBe("overtaken");
        expect(await stores.writes.apply(held.id, [], { request_id: "late" })).toBe("overtaken");
        expect(await stores.writes.apply(held.id, [], { request_id: "in time" })).toBe("written");
      });
    });

    describe("an effect", () => {
      const schedule = (thread_id: string, after: number, id = "one") =>
        ({ write: "effect", thread_id, effect: anEffect({ id, after }) }) as const;

      /** Lays the thread down, until it is woken unless told otherwise. */
      const layDown = (held: Held, seq: number, due_after: number | null, ...writes: readonly Write[]) =>
        stores.threads.commit(aCommit(held, { seq, writes, settle: { wake_rev: held.wake_rev, due_after } }));

      const change = (thread_id: string, from: "pending" | "processing", to: "processing" | "completed") =>
        ({ write: "effect_change", thread_id, id: "one", from: [from], to }) as const;

      const isDueWithin = async (microseconds: number) => {
        const due = await nextDue(stores);
        expect(due).toBeGreaterThan(0);
        expect(due).toBeLessThanOrEqual(microseconds);
      };

      it("makes a thread due that has nothing else to do", async () => {
        const { id } = await restingThread();
        const heard = await heardOn(driver);
        await written(stores, id, schedule(id, 2 * MINUTE));
        await isDueWithin(2 * MINUTE);
        await written(stores, id, schedule(id, MINUTE, "two"));
        await isDueWithin(MINUTE);
        await written(stores, id, schedule(id, 3 * MINUTE, "three"));
        await isDueWithin(MINUTE);
        await written(stores, id, schedule(id, 0, "four"));
        expect(await nextDue(stores)).toBe(0);
        expect(new Set(await heard.all())).toEqual(new Set([id]));
      });

      it("makes its thread due again when that is laid down by the commit that schedules it, or later", async () => {
        const held = await heldThread(stores);
        await layDown(held, 0, null, schedule(held.id, MINUTE));
        await isDueWithin(MINUTE);
        const other = await heldThread(stores);
        await commit(other, 0, schedule(other.id, 0));
        expect(await commit(other, 1)).toEqual({ outcome: "committed", wake_rev: other.wake_rev });
        await layDown(other, 2, 5 * MINUTE);
        expect(await claim(stores)).toMatchObject([{ id: other.id }]);
      });

      it("leaves a thread due when something else comes first", async () => {
        const held = await heldThread(stores);
        await layDown(held, 0, MINUTE, schedule(held.id, 5 * MINUTE));
        await isDueWithin(MINUTE);
      });

      it("that was scheduled from outside is seen by whoever lays the thread down without knowing of it", async () => {
        const held = await heldThread(stores);
        await written(stores, held.id, schedule(held.id, MINUTE));
        expect(await stores.threads.load(held.id)).toMatchObject({ wake_rev: held.wake_rev + 1 });
        await layDown(held, 0, null);
        expect(await nextDue(stores)).toBe(0);
      });

      it("that ends with the commit makes nothing due", async () => {
        const held = await heldThread(stores);
        await commit(held, 0, schedule(held.id, 0), change(held.id, "pending", "processing"));
        await layDown(held, 1, null, change(held.id, "processing", "completed"));
        expect(await nextDue(stores)).toBeNull();
      });

      it("that comes next counts when another one ends with the commit", async () => {
        const held = await heldThread(stores);
        await commit(held, 0, schedule(held.id, 0), schedule(held.id, MINUTE, "next"));
        await layDown(held, 1, 5 * MINUTE, change(held.id, "pending", "completed"));
        await isDueWithin(MINUTE);
      });

      it("counts when a thread is given back, unless something went wrong", async () => {
        const held = await heldThread(stores);
        await commit(held, 0, schedule(held.id, 0));
        await stores.engine.giveBack({ ...held, wake_rev: null }, MINUTE);
        await isDueWithin(MINUTE);
        const [again] = await claim(stores, { lease_us: 0 });
        expect(again).toBeUndefined();
        await written(stores, held.id, { write: "entry", thread_id: held.id, entry: anEntry() });
        const [claimed] = await claim(stores);
        await stores.engine.giveBack({ id: held.id, epoch: claimed?.epoch ?? 0, wake_rev: 2 }, null);
        expect(await nextDue(stores)).toBe(0);
      });

      it("that was begun by somebody who is gone counts when the thread is given back", async () => {
        const held = await heldThread(stores);
        await commit(held, 0, schedule(held.id, 0), change(held.id, "pending", "processing"));
        await stores.engine.giveBack(held, null);
        expect(await nextDue(stores)).toBe(0);
      });

      it("of a terminated thread makes nothing due", async () => {
        const held = await heldThread(stores);
        await commit(
          held,
          0,
          schedule(held.id, 0),
          schedule(held.id, 0, "two"),
          change(held.id, "pending", "processing"),
        );
        await stores.threads.terminate(held.id, aStop());
        const drained = [1, 2];
        const settle = { wake_rev: held.wake_rev + 1, due_after: null };
        await stores.threads.commit(aCommit(held, { seq: 1, drained, settle }));
        expect(await nextDue(stores)).toBeNull();
        expect(await stores.state.effect(held.id, "two")).toMatchObject({ status: "user_canceled" });
      });
    });

    it("messages keep how deep they are, and below what", async () => {
      const held = await heldThread(stores);
      const messages = [aMessage("call"), aMessage("deep", { depth: 1, parent_seq: 0, kind: "notice" })];
      await stores.threads.commit(aCommit(held, { messages }));
      expect(await stores.threads.messages(held.id, {})).toMatchObject(messages);
      expect((await stores.threads.load(held.id))?.messages).toMatchObject(messages);
    });
  });
}
