// What the stores promise when the connection breaks while they commit, as tests: every verb happens exactly once, and
// whoever asked for it is told so.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, aMessage, anEntry, aRequest, aThread, MINUTE } from "./contract/a-commit.ts";
import { aChild, anEffect, openChild } from "./contract/a-write.ts";
import { type LosingDriver, losingDriver, losses } from "./contract/losing-driver.ts";
import {
  claim,
  dueThread,
  heardOn,
  heldThread,
  nextDue,
  openThread,
  type StoresInTest,
  WORKER,
} from "./contract/stores-in-test.ts";
import type { Stores } from "./stores.ts";
import type { Write } from "./write.ts";

/** The same write with an identity of its own. */
function fresh(write: Write): Write {
  if (write.write === "entry") return { ...write, entry: anEntry() };
  if (write.write === "effect") return { ...write, effect: anEffect() };
  return write.write === "thread" ? { ...write, thread: aChild(write.thread.parent_id ?? "") } : write;
}

export function describeLostAnswers(name: string, open: () => Promise<StoresInTest>): void {
  describe.each(losses)(`when a commit loses %s, on ${name},`, (loss) => {
    let driver: LosingDriver;
    let stores: Stores;

    beforeEach(async () => {
      const world = await open();
      driver = losingDriver(world.driver);
      stores = await world.storesOn(driver);
    });

    it("a thread is opened", async () => {
      driver.loseNext(loss);
      expect(await stores.threads.open(aThread({ id: "one" }))).toMatchObject({
        outcome: "opened",
        thread: { id: "one" },
      });
      expect(await stores.threads.list({})).toHaveLength(1);
    });

    it("an entry is stored once", async () => {
      const id = await openThread(stores);
      const entry = anEntry();
      driver.loseNext(loss);
      expect(await stores.inbox.put(id, entry)).toEqual({ outcome: "stored", id: entry.id });
      expect(await stores.inbox.waiting(id)).toMatchObject([{ seq: 1, id: entry.id }]);
      expect(await stores.threads.load(id)).toMatchObject({ wake_rev: 1 });
    });

    it("an entry under a key that was used before is a repeat all the same", async () => {
      const id = await openThread(stores);
      await stores.inbox.put(id, anEntry({ id: "first", idempotency_key: "mail 1" }));
      driver.loseNext(loss);
      const again = anEntry({ idempotency_key: "mail 1" });
      expect(await stores.inbox.put(id, again)).toEqual({ outcome: "repeated", id: "first" });
    });

    it("an entry is taken back", async () => {
      const id = await openThread(stores);
      await stores.inbox.put(id, anEntry({ id: "entry" }));
      driver.loseNext(loss);
      expect(await stores.inbox.cancel(id, "entry")).toBe(true);
      expect(await stores.inbox.waiting(id)).toEqual([]);
    });

    it("an entry that a run has taken is not taken back", async () => {
      const held = await heldThread(stores);
      await stores.inbox.put(held.id, anEntry({ id: "entry" }));
      await stores.threads.commit(aCommit(held, { drained: [1, 2] }));
      driver.loseNext(loss);
      expect(await stores.inbox.cancel(held.id, "entry")).toBe(false);
    });

    it("the holder's commit is written once", async () => {
      const held = await heldThread(stores);
      const messages = [aMessage("one"), aMessage("two")];
      driver.loseNext(loss);
      const queued = [anEntry({ id: "queued" })];
      const first = aCommit(held, { messages, drained: [1], queued });
      expect(await stores.threads.commit(first)).toMatchObject({ outcome: "committed" });
      expect(await stores.threads.messages(held.id, {})).toHaveLength(2);
      expect(await stores.inbox.waiting(held.id)).toMatchObject([{ seq: 2, id: "queued" }]);
      expect(await stores.threads.commit(aCommit(held, { seq: 1 }))).toMatchObject({ outcome: "committed" });
      expect(await stores.threads.get(held.id)).toMatchObject({ next_seq: 2 });
    });

    it("the holder's last commit lays the thread down", async () => {
      const held = await heldThread(stores);
      driver.loseNext(loss);
      const settle = { wake_rev: held.wake_rev, due_after: null };
      expect(await stores.threads.commit(aCommit(held, { drained: [1], settle }))).toMatchObject({
        outcome: "committed",
      });
      expect(await nextDue(stores)).toBeNull();
    });

    it("a commit by somebody else writes nothing", async () => {
      const held = await heldThread(stores);
      driver.loseNext(loss);
      const stranger = aCommit(held, { worker: "worker 2", messages: [aMessage("one")] });
      expect(await stores.threads.commit(stranger)).toEqual({ outcome: "lost" });
      expect(await stores.threads.messages(held.id, {})).toEqual([]);
    });

    it("a commit that was overtaken writes nothing", async () => {
      const held = await heldThread(stores);
      driver.loseNext(loss);
      const late = aCommit(held, { drained: [1, 2], messages: [aMessage("one")] });
      expect(await stores.threads.commit(late)).toEqual({ outcome: "overtaken" });
      expect(await stores.threads.messages(held.id, {})).toEqual([]);
    });

    it("an answer is submitted once", async () => {
      const held = await heldThread(stores);
      await stores.threads.commit(aCommit(held, { drained: [1], opened_requests: [aRequest({ id: "request" })] }));
      driver.loseNext(loss);
      const yes = { body: '{"decision":"accepted"}', payload_hash: "hash of yes", mac: "mac of yes" };
      expect(await stores.requests.submit("request", yes)).toBe("submitted");
      expect(await stores.requests.get("request")).toMatchObject({ status: "answered", answer: yes.body });
      expect(await stores.inbox.waiting(held.id)).toHaveLength(1);
    });

    it("an answer after another one is refused", async () => {
      const held = await heldThread(stores);
      await stores.threads.commit(aCommit(held, { opened_requests: [aRequest({ id: "request" })] }));
      await stores.requests.submit("request", {
        body: '{"decision":"accepted"}',
        payload_hash: "hash of yes",
        mac: "mac of yes",
      });
      driver.loseNext(loss);
      const no = { body: '{"decision":"rejected"}', payload_hash: "hash of no", mac: "mac of no" };
      expect(await stores.requests.submit("request", no)).toBe("refused");
      expect(await stores.requests.get("request")).toMatchObject({ answer: '{"decision":"accepted"}' });
    });

    it("a thread is terminated once", async () => {
      const id = await openThread(stores);
      driver.loseNext(loss);
      expect(await stores.threads.terminate(id, anEntry({ kind: "stop" }))).toMatchObject({ status: "terminated" });
      expect(await stores.inbox.waiting(id)).toHaveLength(1);
    });

    it("what is written to another thread is written once", async () => {
      const held = await heldThread(stores);
      const other = await openThread(stores);
      const entry = { write: "entry", thread_id: other, entry: anEntry() } as const;
      const child = aChild(held.id);
      driver.loseNext(loss);
      const first = aCommit(held, { writes: [entry, { write: "thread", thread: child }] });
      expect(await stores.threads.commit(first)).toEqual({ outcome: "committed", wake_rev: held.wake_rev });
      expect(await stores.inbox.waiting(other)).toMatchObject([{ seq: 1 }]);
      expect(await stores.threads.children(held.id, {})).toHaveLength(1);
      driver.loseNext(loss);
      const stranger = aCommit(held, { worker: "worker 2", seq: 1, writes: [entry] });
      expect(await stores.threads.commit(stranger)).toEqual({ outcome: "lost" });
    });

    it("writes on their own are written once", async () => {
      const id = await openThread(stores);
      const other = await openThread(stores);
      const entry = { write: "entry", thread_id: other, entry: anEntry() } as const;
      const effect = { write: "effect", thread_id: id, effect: anEffect() } as const;
      const thread = { write: "thread", thread: aChild(id) } as const;
      for (const writes of [[entry], [effect], [thread], [entry, effect, thread]]) {
        const again = writes.map((each) => fresh(each));
        driver.loseNext(loss);
        expect(await stores.writes.apply(id, again)).toBe("written");
      }
      expect((await stores.inbox.waiting(other)).map(({ seq }) => seq)).toEqual([1, 2]);
      expect(await stores.state.effects(id, {})).toHaveLength(2);
      expect(await stores.threads.children(id, {})).toHaveLength(2);
    });

    it("the request that writes need is settled once", async () => {
      const id = await openThread(stores);
      const request = (name: string) =>
        ({ write: "request", thread_id: id, run: 0, request: aRequest({ id: name }) }) as const;
      driver.loseNext(loss);
      expect(await stores.writes.apply(id, [request("request"), request("other")])).toBe("written");
      driver.loseNext(loss);
      const value = { write: "value", thread_id: id, key: "a", value: "1" } as const;
      expect(await stores.writes.apply(id, [value], { request_id: "request" })).toBe("written");
      expect(await stores.requests.get("request")).toMatchObject({ status: "settled" });
      driver.loseNext(loss);
      expect(await stores.writes.apply(id, [value], { request_id: "request" })).toBe("overtaken");
    });

    it("a thread is deleted, and it is told which", async () => {
      const id = await openThread(stores);
      const child = await openChild(stores, id);
      driver.loseNext(loss);
      expect([...(await stores.threads.delete(id))].sort()).toEqual([id, child].sort());
      expect(await stores.threads.list({})).toEqual([]);
    });

    it("a fork is made once", async () => {
      const held = await heldThread(stores, { id: "parent" });
      await stores.threads.commit(aCommit(held, { messages: [aMessage("one")], event: { settled: true } }));
      const fork = { id: "child", key: "key", from: "parent", at: 0, hash: "hash", records: "[]" };
      driver.loseNext(loss);
      expect(await stores.threads.fork(fork)).toBe("forked");
      expect(await stores.threads.messages("child", {})).toHaveLength(1);
      expect(await stores.threads.events("child", {})).toHaveLength(1);
      driver.loseNext(loss);
      expect(await stores.threads.fork({ ...fork, id: "another" })).toBe("known");
    });

    it("a stuck thread tries again", async () => {
      const held = await heldThread(stores);
      await stores.engine.markStuck(held.id, held.epoch);
      const heard = await heardOn(driver);
      driver.loseNext(loss);
      expect(await stores.engine.retry(held.id)).toBe(true);
      expect(await heard.all()).toEqual([held.id]);
      expect(await claim(stores)).toMatchObject([{ id: held.id, claims: 1 }]);
    });

    it("a thread is given back, and leases are renewed and released", async () => {
      const held = await heldThread(stores);
      driver.loseNext(loss);
      expect(await stores.engine.renew(WORKER, [held.id], MINUTE)).toEqual([held]);
      driver.loseNext(loss);
      await stores.engine.giveBack(held, 0);
      expect(await claim(stores)).toMatchObject([{ id: held.id, epoch: 2 }]);
      driver.loseNext(loss);
      await stores.membership.release(WORKER);
      expect(await claim(stores, { worker: "worker 2" })).toMatchObject([{ id: held.id, epoch: 3 }]);
    });

    it("threads that were taken without anybody knowing are free again when the lease is over", async () => {
      const held = await heldThread(stores);
      const id = await dueThread(stores);
      driver.loseNext(loss);
      expect(await claim(stores, { lease_us: 0 })).toEqual([]);
      // Not kept by the leases that their worker does know of.
      await stores.engine.renew(WORKER, [held.id], MINUTE);
      expect(await claim(stores, { worker: "worker 2" })).toMatchObject([{ id }]);
    });
  });
}
