// What every inbox promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, anEntry } from "./contract/a-commit.ts";
import {
  claim,
  dueThread,
  everything,
  heardOn,
  heldThread,
  nextDue,
  openThread,
  type StoresInTest,
} from "./contract/stores-in-test.ts";
import type { Inbox } from "./inbox.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";

export function describeInbox(name: string, open: () => Promise<StoresInTest>): void {
  describe(`inbox on ${name}`, () => {
    let stores: Stores;
    let inbox: Inbox;
    let driver: SqlDriver;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      ({ inbox } = stores);
    });

    /** A thread that was laid down with nothing to do. */
    async function parkedThread(status: "idle" | "stopped" = "idle"): Promise<string> {
      const held = await heldThread(stores);
      const settle = { wake_rev: held.wake_rev, due_after: null };
      await stores.threads.commit(aCommit(held, { status, drained: [1], settle }));
      return held.id;
    }

    const isDue = async () => (await nextDue(stores)) === 0;

    describe("an entry", () => {
      it("waits as it was put", async () => {
        const id = await openThread(stores);
        const entry = anEntry({ kind: "tool", body: '{"b":1,"a":"naïve 🦀"}' });
        expect(await inbox.put(id, entry)).toEqual({ outcome: "stored", id: entry.id });
        expect(await inbox.waiting(id)).toEqual([
          { seq: 1, id: entry.id, kind: "tool", body: entry.body, created_at: expect.any(Number) },
        ]);
      });

      it("under a key that was used for the same is a repeat, told with the first one's id", async () => {
        const id = await openThread(stores);
        await inbox.put(id, anEntry({ id: "first", idempotency_key: "mail 1" }));
        const before = await everything(driver);
        const again = anEntry({ id: "second", idempotency_key: "mail 1" });
        expect(await inbox.put(id, again)).toEqual({ outcome: "repeated", id: "first" });
        expect(await everything(driver)).toEqual(before);
      });

      it("is a repeat also after the first one was drained", async () => {
        const held = await heldThread(stores);
        await inbox.put(held.id, anEntry({ id: "first", idempotency_key: "mail 1" }));
        await stores.threads.commit(aCommit(held, { drained: [1, 2] }));
        const again = anEntry({ idempotency_key: "mail 1" });
        expect(await inbox.put(held.id, again)).toEqual({ outcome: "repeated", id: "first" });
        expect(await inbox.waiting(held.id)).toEqual([]);
      });

      it("is found by its operation and its key, before and after it was drained", async () => {
        const held = await heldThread(stores);
        await inbox.put(held.id, anEntry({ id: "first", operation: "send", idempotency_key: "mail 1" }));
        await inbox.put(held.id, anEntry({ id: "second", operation: "send", idempotency_key: "mail 2" }));
        const left = { id: "first", key: "mail 1", run: null, drained: false, created_at: expect.any(Number) };
        expect(await inbox.left(held.id, "send", "mail 1")).toEqual(left);
        expect(await inbox.left(held.id, "queue", "mail 1")).toBeUndefined();
        expect(await inbox.left(held.id, "send", "mail 3")).toBeUndefined();
        expect(await inbox.left(held.id, "send")).toMatchObject({ id: "second", key: "mail 2" });
        await stores.threads.commit(aCommit(held, { drained: [1, 2] }));
        expect(await inbox.left(held.id, "send", "mail 1")).toEqual({ ...left, drained: true, run: 1 });
      });

      it("under a key that was used for something else is refused", async () => {
        const id = await openThread(stores);
        await inbox.put(id, anEntry({ idempotency_key: "mail 1" }));
        const before = await everything(driver);
        const other = anEntry({ idempotency_key: "mail 1", payload_hash: "hash of another text" });
        expect(await inbox.put(id, other)).toEqual({ outcome: "conflicting" });
        expect(await everything(driver)).toEqual(before);
      });

      it("can be asked about before it is put: what came first under its key is told, and nothing changes", async () => {
        const id = await openThread(stores);
        const entry = anEntry({ id: "first", idempotency_key: "mail 1" });
        expect(await inbox.first(id, entry)).toBeUndefined();
        await inbox.put(id, entry);
        const before = await everything(driver);
        expect(await inbox.first(id, anEntry({ idempotency_key: "mail 1" }))).toEqual({
          outcome: "repeated",
          id: "first",
        });
        expect(await inbox.first(id, { ...entry, payload_hash: "another" })).toEqual({ outcome: "conflicting" });
        expect(await inbox.first(id, { ...entry, operation: "queue" })).toBeUndefined();
        expect(await inbox.first("nobody", entry)).toBeUndefined();
        expect(await everything(driver)).toEqual(before);
      });

      it("shares its key with no other operation and no other thread", async () => {
        const [one, other] = [await openThread(stores), await openThread(stores)];
        const parts = { idempotency_key: "mail 1" };
        expect(await inbox.put(one, anEntry(parts))).toMatchObject({ outcome: "stored" });
        expect(await inbox.put(one, anEntry({ ...parts, operation: "queue" }))).toMatchObject({ outcome: "stored" });
        expect(await inbox.put(other, anEntry(parts))).toMatchObject({ outcome: "stored" });
        expect((await inbox.waiting(one)).map(({ seq }) => seq)).toEqual([1, 2]);
      });

      it("for a thread that was terminated or never was is refused", async () => {
        const id = await openThread(stores);
        await stores.threads.terminate(id, anEntry({ kind: "stop" }));
        const before = await everything(driver);
        expect(await inbox.put(id, anEntry())).toEqual({ outcome: "terminated" });
        expect(await inbox.put("nobody", anEntry())).toEqual({ outcome: "not_found" });
        expect(await everything(driver)).toEqual(before);
      });

      it("that something is to be erased is taken by a thread that was terminated, which is due for it", async () => {
        const held = await heldThread(stores);
        await stores.threads.terminate(held.id, anEntry({ kind: "stop", operation: "stop" }));
        const settle = { wake_rev: 2, due_after: null };
        await stores.threads.commit(aCommit(held, { drained: [1, 2], settle }));
        expect(await nextDue(stores)).toBeNull();
        expect(await inbox.put(held.id, anEntry({ kind: "erasure" }))).toMatchObject({ outcome: "stored" });
        expect(await claim(stores)).toMatchObject([{ id: held.id }]);
      });

      it("that was put before the thread was terminated is still a repeat", async () => {
        const id = await openThread(stores);
        await inbox.put(id, anEntry({ id: "first", idempotency_key: "mail 1" }));
        await stores.threads.terminate(id, anEntry({ kind: "stop" }));
        const again = anEntry({ idempotency_key: "mail 1" });
        expect(await inbox.put(id, again)).toEqual({ outcome: "repeated", id: "first" });
      });
    });

    describe("the order", () => {
      it("has no gaps and no doubles when many put at once", async () => {
        const id = await openThread(stores);
        const entries = Array.from({ length: 50 }, (_, index) => anEntry({ id: `entry ${index}` }));
        const repeats = entries.filter((_, index) => index % 5 === 0).map(({ id: of }) => anEntry({ id: of }));
        const outcomes = await Promise.all([...entries, ...repeats].map((entry) => inbox.put(id, entry)));
        expect(outcomes.slice(0, 50).map(({ outcome }) => outcome)).toEqual(entries.map(() => "stored"));
        const waiting = await inbox.waiting(id);
        expect(waiting.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
        expect(waiting.map((entry) => entry.id).sort()).toEqual(entries.map((entry) => entry.id).sort());
        expect(await stores.threads.load(id)).toMatchObject({ wake_rev: 50 });
      });

      it("is that of arrival for one who puts one after another, and goes on after what was drained", async () => {
        const held = await heldThread(stores);
        for (const id of ["one", "two", "three"]) await inbox.put(held.id, anEntry({ id }));
        await stores.threads.commit(aCommit(held, { drained: [1, 3] }));
        await inbox.put(held.id, anEntry({ id: "four" }));
        expect((await inbox.waiting(held.id)).map(({ seq, id }) => ({ seq, id }))).toEqual([
          { seq: 2, id: "one" },
          { seq: 4, id: "three" },
          { seq: 5, id: "four" },
        ]);
      });
    });

    describe("waking", () => {
      it("makes a thread due that had nothing to do", async () => {
        const id = await parkedThread();
        expect(await isDue()).toBe(false);
        await inbox.put(id, anEntry());
        expect(await isDue()).toBe(true);
        expect(await claim(stores)).toMatchObject([{ id }]);
      });

      it("comes before a timer, and leaves a thread in its place that is due already", async () => {
        const held = await heldThread(stores);
        const hour = 3_600_000_000;
        const settle = { wake_rev: held.wake_rev, due_after: hour };
        await stores.threads.commit(aCommit(held, { drained: [1], settle }));
        expect(await isDue()).toBe(false);
        await inbox.put(held.id, anEntry());
        expect(await isDue()).toBe(true);
        const later = await dueThread(stores);
        await inbox.put(held.id, anEntry());
        expect(await claim(stores, { limit: 1 })).toMatchObject([{ id: held.id }]);
        expect(await claim(stores, { limit: 1 })).toMatchObject([{ id: later }]);
      });

      it("leaves a stopped thread alone, unless the entry is meant for one", async () => {
        const id = await parkedThread("stopped");
        await inbox.put(id, anEntry());
        expect(await claim(stores)).toEqual([]);
        await inbox.put(id, anEntry({ wakes_stopped: true }));
        expect(await claim(stores)).toMatchObject([{ id }]);
        expect(await inbox.waiting(id)).toHaveLength(2);
      });

      it("is signalled for a thread that nobody holds", async () => {
        const id = await openThread(stores);
        const heard = await heardOn(driver);
        await inbox.put(id, anEntry());
        expect(await heard.all()).toEqual([id]);
      });

      it("is signalled for one that somebody holds only when it is urgent", async () => {
        const { id } = await heldThread(stores);
        const heard = await heardOn(driver);
        await inbox.put(id, anEntry());
        expect(await heard.all()).toEqual([]);
        await inbox.put(id, anEntry({ kind: "stop", urgent: true }));
        expect(await heard.all()).toEqual([id]);
      });

      it("is not signalled by an entry that is not stored", async () => {
        const id = await openThread(stores);
        await inbox.put(id, anEntry({ idempotency_key: "mail 1" }));
        const heard = await heardOn(driver);
        await inbox.put(id, anEntry({ idempotency_key: "mail 1" }));
        await inbox.put(id, anEntry({ idempotency_key: "mail 1", payload_hash: "hash of another text" }));
        expect(await heard.all()).toEqual([]);
      });
    });

    describe("the fate of an entry", () => {
      it("is unknown for one that was never put", async () => {
        const id = await openThread(stores);
        expect(await inbox.fate(id, "nothing")).toBeUndefined();
      });

      it("names the run that took it", async () => {
        const held = await heldThread(stores);
        await inbox.put(held.id, anEntry({ id: "entry" }));
        expect(await inbox.fate(held.id, "entry")).toEqual({ id: "entry", drained: false, run: null });
        await stores.threads.commit(aCommit(held, { run: 3, drained: [2] }));
        expect(await inbox.fate(held.id, "entry")).toEqual({ id: "entry", drained: true, run: 3 });
      });

      it("leaves nothing of what it said once it is drained", async () => {
        const held = await heldThread(stores);
        await inbox.put(held.id, anEntry({ body: '{"text":"a secret"}' }));
        await stores.threads.commit(aCommit(held, { drained: [1, 2] }));
        expect(JSON.stringify(await everything(driver))).not.toContain("a secret");
      });
    });

    describe("the last stop", () => {
      it("is the last wish to stop that was taken, not one that waits", async () => {
        const held = await heldThread(stores);
        for (const kind of ["stop", "message", "stop", "continue", "stop"] as const) {
          await inbox.put(held.id, anEntry({ kind }));
        }
        expect(await inbox.lastStop(held.id)).toBeNull();
        await stores.threads.commit(aCommit(held, { drained: [1, 2, 3, 4, 5] }));
        expect(await inbox.lastStop(held.id)).toBe(4);
        await stores.threads.commit(aCommit(held, { seq: 1, drained: [6] }));
        expect(await inbox.lastStop(held.id)).toBe(6);
      });

      it("is none where nobody wanted one", async () => {
        const held = await heldThread(stores);
        await stores.threads.commit(aCommit(held, { drained: [1] }));
        expect(await inbox.lastStop(held.id)).toBeNull();
        expect(await inbox.lastStop("nobody")).toBeNull();
      });
    });

    describe("taking an entry back", () => {
      it("works as long as nobody has drained it", async () => {
        const held = await heldThread(stores);
        for (const id of ["one", "two"]) await inbox.put(held.id, anEntry({ id }));
        expect(await inbox.cancel(held.id, "two")).toBe(true);
        expect((await inbox.waiting(held.id)).map(({ seq }) => seq)).toEqual([1, 2]);
        expect(await inbox.fate(held.id, "two")).toEqual({ id: "two", drained: true, run: null });
        await stores.threads.commit(aCommit(held, { drained: [1, 2] }));
        expect(await inbox.cancel(held.id, "one")).toBe(false);
        expect(await inbox.fate(held.id, "one")).toMatchObject({ drained: true, run: 1 });
      });

      it("works once", async () => {
        const id = await openThread(stores);
        await inbox.put(id, anEntry({ id: "entry" }));
        const cancelled = await Promise.all(Array.from({ length: 5 }, () => inbox.cancel(id, "entry")));
        expect(cancelled.filter(Boolean)).toHaveLength(1);
      });

      it("does not work for what others rely on, nor for what is not there", async () => {
        const id = await openThread(stores);
        for (const kind of ["stop", "answer", "continue", "edit", "deletion", "settlement"] as const) {
          await inbox.put(id, anEntry({ id: kind, kind }));
          expect(await inbox.cancel(id, kind)).toBe(false);
        }
        await inbox.put(id, anEntry({ id: "tool", kind: "tool" }));
        expect(await inbox.cancel("nobody", "tool")).toBe(false);
        expect(await inbox.cancel(id, "nothing")).toBe(false);
        expect(await inbox.cancel(id, "tool")).toBe(true);
        expect(await inbox.waiting(id)).toHaveLength(6);
      });
    });
  });
}
