// What a commit of the lease holder promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aBegunCall, aCommit, aMessage, anEntry, aRequest, MINUTE } from "./contract/a-commit.ts";
import { claim, dueThread, everything, heldThread, nextDue, type StoresInTest } from "./contract/stores-in-test.ts";
import type { Held } from "./engine.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { Commit } from "./thread-commit.ts";
import type { ThreadStore } from "./thread-store.ts";

export function describeCommit(name: string, open: () => Promise<StoresInTest>): void {
  describe(`a commit on ${name}`, () => {
    let stores: Stores;
    let threads: ThreadStore;
    let driver: SqlDriver;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      ({ threads } = stores);
    });

    /** The second commit of a thread that waits for an answer, with something for every table. */
    async function readyCommit(): Promise<{ held: Held; commit: Commit }> {
      const held = await heldThread(stores);
      const begun = { key: "run one", status: "running", outcome: null, ended: false };
      await threads.commit(
        aCommit(held, {
          messages: [aMessage("Refund order 7.")],
          run_change: begun,
          calls: [aBegunCall(0), aBegunCall(1)],
          opened_requests: [aRequest({ id: "old request" })],
          answer: "old answer",
        }),
      );
      await stores.inbox.put(held.id, anEntry({ id: "second entry" }));
      const commit = aCommit(held, {
        seq: 1,
        status: "waiting",
        state: '{"position":"waiting"}',
        working: "sealed working",
        answer: "new answer",
        steps: 2,
        event: { messages_from: 1, records: '["records"]', notes: '["notes"]', settled: true, hash: "hash 1" },
        messages: [aMessage("two"), aMessage("three")],
        tail_from: 1,
        drained: [1, 2],
        queued: [anEntry({ id: "queued one" }), anEntry({ id: "queued two" })],
        run_change: { status: "waiting", outcome: '{"status":"approval_required"}', ended: false },
        calls: [
          { change: "ended", number: 0, phase: "settled", outcome: "done", message_seq: 1 },
          { change: "waiting", number: 1 },
          aBegunCall(2),
        ],
        opened_requests: [aRequest({ id: "new request", call: 1 })],
        closed_requests: [{ id: "old request", from: "pending", to: "cancelled" }],
      });
      return { held, commit };
    }

    it("opens and closes any number of requests, and ends calls that have no message", async () => {
      const held = await heldThread(stores);
      const asked = ["one", "two", "three"].map((id, call) => aRequest({ id, call }));
      await threads.commit(aCommit(held, { calls: [aBegunCall(0)], opened_requests: asked }));
      const statuses = async () =>
        (await stores.requests.list({ thread_id: held.id })).map(({ id, status }) => `${id} ${status}`).sort();
      expect(await statuses()).toEqual(["one pending", "three pending", "two pending"]);
      await stores.requests.submit("two", { body: "{}", payload_hash: "hash", mac: "mac" });
      const closed_requests = [
        { id: "one", from: "pending", to: "cancelled" },
        { id: "two", from: "answered", to: "settled" },
      ] as const;
      const ended = { change: "ended", number: 0, phase: "settled", outcome: "success", message_seq: null } as const;
      const commit = aCommit(held, {
        seq: 1,
        calls: [ended],
        closed_requests,
        opened_requests: [aRequest({ id: "four" })],
      });
      // One of them has changed since: then none is closed or opened.
      const late = closed_requests.map((each) => ({ ...each, from: "pending" }) as const);
      expect(await threads.commit({ ...commit, closed_requests: late })).toEqual({ outcome: "overtaken" });
      expect(await statuses()).toEqual(["one pending", "three pending", "two answered"]);
      expect(await threads.commit(commit)).toMatchObject({ outcome: "committed" });
      expect(await statuses()).toEqual(["four pending", "one cancelled", "three pending", "two settled"]);
      expect(await threads.calls(held.id)).toMatchObject([{ phase: "settled", message_seq: null }]);
    });

    it("writes everything that belongs to it", async () => {
      const { held, commit } = await readyCommit();
      expect(await threads.commit(commit)).toEqual({ outcome: "committed", wake_rev: 2 });

      expect(await threads.load(held.id)).toMatchObject({
        thread: { status: "waiting", run: 1, steps: 2, next_seq: 2, next_message: 3 },
        state: '{"position":"waiting"}',
        working: "sealed working",
        answer: "new answer",
        tail_from: 1,
        last_hash: "hash 1",
        messages: [
          { seq: 1, run: 1, step: 2, hash: "hash of two" },
          { seq: 2, run: 1, step: 2, hash: "hash of three" },
        ],
      });
      expect(await threads.events(held.id, { after: 0 })).toMatchObject([
        {
          ...{ seq: 1, run: 1, step: 2, records: '["records"]', notes: '["notes"]', messages_from: 1, messages_to: 3 },
          ...{ tail_from: 1, summary_seq: null, settled: true, hash: "hash 1" },
        },
      ]);
      expect(await stores.inbox.waiting(held.id)).toMatchObject([
        { seq: 3, id: "queued one" },
        { seq: 4, id: "queued two" },
      ]);
      expect(await threads.runs(held.id)).toMatchObject([
        { run: 1, run_key: "run one", status: "waiting", outcome: '{"status":"approval_required"}', ended_at: null },
      ]);
      expect(await threads.calls(held.id)).toMatchObject([
        { number: 0, phase: "settled", outcome: "done", message_seq: 1, settled_at: expect.any(Number) },
        { number: 1, phase: "waiting", outcome: null, message_seq: null, settled_at: null },
        { number: 2, phase: "begun", tool_call_id: "call 2" },
      ]);
      expect(await stores.requests.get("old request")).toMatchObject({
        status: "cancelled",
        sealed: null,
        ended_at: expect.any(Number),
      });
      expect(await stores.requests.get("new request")).toMatchObject({
        thread_id: held.id,
        run: 1,
        call: 1,
        status: "pending",
      });
    });

    describe("by somebody else", () => {
      const strangers: Record<string, (commit: Commit) => Commit> = {
        "another worker": (commit) => ({ ...commit, worker: "worker 2" }),
        "an earlier holder of the lease": (commit) => ({ ...commit, epoch: commit.epoch - 1 }),
        "one who missed a commit": (commit) => ({ ...commit, seq: commit.seq - 1 }),
        "one who is ahead of the thread": (commit) => ({ ...commit, seq: commit.seq + 1 }),
        "one who takes it for another thread": (commit) => ({ ...commit, thread_id: "nobody" }),
      };

      it.each(Object.keys(strangers))("writes nothing at all: %s", async (stranger) => {
        const { commit } = await readyCommit();
        const before = await everything(driver);
        expect(await threads.commit(strangers[stranger]?.(commit) ?? commit)).toEqual({ outcome: "lost" });
        expect(await everything(driver)).toEqual(before);
        expect(await threads.commit(commit)).toMatchObject({ outcome: "committed" });
      });

      it("is refused once the thread was taken over, whichever of the two commits first", async () => {
        const id = await dueThread(stores);
        const [first] = await claim(stores, { lease_us: 0 });
        const [second] = await claim(stores, { worker: "worker 2" });
        const commits = [
          aCommit({ id, epoch: second?.epoch ?? 0 }, { worker: "worker 2" }),
          aCommit({ id, epoch: first?.epoch ?? 0 }),
        ];
        const outcomes = await Promise.all(commits.map((commit) => threads.commit(commit)));
        expect(outcomes.map(({ outcome }) => outcome)).toEqual(["committed", "lost"]);
      });

      it("is refused after the lease was given back", async () => {
        const held = await heldThread(stores);
        const settle = { wake_rev: held.wake_rev, due_after: null };
        await threads.commit(aCommit(held, { settle }));
        expect(await threads.commit(aCommit(held, { seq: 1 }))).toEqual({ outcome: "lost" });
      });

      it("wins once when one holder commits the same number twice at a time", async () => {
        const held = await heldThread(stores);
        const commits = Array.from({ length: 8 }, () => threads.commit(aCommit(held, { messages: [aMessage("one")] })));
        const outcomes = (await Promise.all(commits)).map(({ outcome }) => outcome);
        expect(outcomes.filter((outcome) => outcome === "committed")).toHaveLength(1);
        expect(await threads.messages(held.id, {})).toHaveLength(1);
      });
    });

    describe("that was overtaken", () => {
      const overtakers: Record<string, (held: Held) => Promise<unknown>> = {
        "an entry was taken back": ({ id }) => stores.inbox.cancel(id, "second entry"),
        "the request was answered": () =>
          stores.requests.submit("old request", { body: "{}", payload_hash: "hash", mac: "mac" }),
      };

      it.each(Object.keys(overtakers))("writes nothing at all: %s", async (overtaker) => {
        const { held, commit } = await readyCommit();
        await overtakers[overtaker]?.(held);
        const before = await everything(driver);
        expect(await threads.commit(commit)).toEqual({ outcome: "overtaken" });
        expect(await everything(driver)).toEqual(before);
      });

      it("writes nothing at all: an entry was drained before", async () => {
        const held = await heldThread(stores);
        await threads.commit(aCommit(held, { drained: [1] }));
        const before = await everything(driver);
        expect(await threads.commit(aCommit(held, { seq: 1, drained: [1] }))).toEqual({ outcome: "overtaken" });
        expect(await everything(driver)).toEqual(before);
      });

      it("may be made again from what is there now", async () => {
        const { held, commit } = await readyCommit();
        await stores.inbox.cancel(held.id, "second entry");
        expect(await threads.commit(commit)).toEqual({ outcome: "overtaken" });
        expect(await threads.commit({ ...commit, drained: [1] })).toMatchObject({ outcome: "committed" });
      });
    });

    describe("and the lease", () => {
      const takenByOthers = async () => (await claim(stores, { worker: "worker 2" })).map(({ id }) => id);

      it("holds on to it", async () => {
        const id = await dueThread(stores);
        const [held] = await claim(stores, { lease_us: 0 });
        expect(await threads.commit(aCommit({ id, epoch: held?.epoch ?? 0 }))).toMatchObject({ outcome: "committed" });
        expect(await takenByOthers()).toEqual([]);
        await threads.commit(aCommit({ id, epoch: held?.epoch ?? 0 }, { seq: 1, lease_us: 0 }));
        expect(await takenByOthers()).toEqual([id]);
      });

      it("forgets how often the thread was taken before", async () => {
        const id = await dueThread(stores);
        const claims: (number | undefined)[] = [];
        let epoch = 0;
        for (let count = 0; count < 3; count++) {
          const [claimed] = await claim(stores, { lease_us: 0 });
          claims.push(claimed?.claims);
          epoch = claimed?.epoch ?? 0;
        }
        await threads.commit(aCommit({ id, epoch }, { lease_us: 0 }));
        claims.push((await claim(stores))[0]?.claims);
        expect(claims).toEqual([1, 2, 3, 1]);
      });
    });

    describe("that gets on with nothing", () => {
      it("leaves how often the thread was taken, held or laid down, until one gets on", async () => {
        const id = await dueThread(stores);
        const claims: (number | undefined)[] = [];
        const take = async () => {
          const [claimed] = await claim(stores, { lease_us: 0 });
          claims.push(claimed?.claims);
          return { id, epoch: claimed?.epoch ?? 0 };
        };
        await threads.commit(aCommit(await take(), { lease_us: 0, progresses: false }));
        const settle = { wake_rev: 1, due_after: 0 };
        await threads.commit(aCommit(await take(), { seq: 1, settle, progresses: false }));
        await threads.commit(aCommit(await take(), { seq: 2, lease_us: 0, progresses: true }));
        await take();
        expect(claims).toEqual([1, 2, 3, 1]);
      });
    });

    describe("that lays the thread down", () => {
      async function laidDown(held: Held, due_after: number | null, parts: Partial<Commit> = {}): Promise<unknown> {
        return threads.commit(aCommit(held, { ...parts, settle: { wake_rev: held.wake_rev, due_after } }));
      }

      it("without a time leaves it until it is woken", async () => {
        const held = await heldThread(stores);
        expect(await laidDown(held, null)).toEqual({ outcome: "committed", wake_rev: held.wake_rev });
        expect(await nextDue(stores)).toBeNull();
        expect(await claim(stores)).toEqual([]);
        await stores.inbox.put(held.id, anEntry());
        expect(await claim(stores, { worker: "worker 2" })).toMatchObject([{ id: held.id, claims: 1 }]);
      });

      it("with a time makes it due then", async () => {
        const held = await heldThread(stores);
        await laidDown(held, MINUTE);
        const wait = await nextDue(stores);
        expect(wait).toBeLessThanOrEqual(MINUTE);
        expect(wait).toBeGreaterThan(0);
        expect(await claim(stores)).toEqual([]);
        const soon = await heldThread(stores);
        await laidDown(soon, 0);
        expect(await nextDue(stores)).toBe(0);
        expect(await claim(stores, { worker: "worker 2" })).toMatchObject([{ id: soon.id }]);
      });

      it.each([null, MINUTE])("is due at once when it was woken meanwhile, whatever the time: %s", async (dueAfter) => {
        const held = await heldThread(stores);
        await stores.inbox.put(held.id, anEntry());
        expect(await laidDown(held, dueAfter, { drained: [1] })).toEqual({ outcome: "committed", wake_rev: 2 });
        expect(await claim(stores, { worker: "worker 2" })).toMatchObject([{ id: held.id }]);
      });

      it("is not due for a wake-up that an earlier commit told of", async () => {
        const held = await heldThread(stores);
        await stores.inbox.put(held.id, anEntry());
        const committed = await threads.commit(aCommit(held));
        expect(committed).toEqual({ outcome: "committed", wake_rev: 2 });
        await laidDown({ ...held, wake_rev: 2 }, null, { seq: 1, drained: [1, 2] });
        expect(await nextDue(stores)).toBeNull();
      });

      it("is due at once for what it queues itself", async () => {
        const held = await heldThread(stores);
        await laidDown(held, null, { drained: [1], queued: [anEntry({ id: "queued" })] });
        expect(await claim(stores)).toMatchObject([{ id: held.id }]);
        expect(await stores.inbox.waiting(held.id)).toMatchObject([{ seq: 2, id: "queued" }]);
      });

      it("leaves what a stopped thread queues until somebody lets it go on", async () => {
        const held = await heldThread(stores);
        await laidDown(held, null, { status: "stopped", drained: [1], queued: [anEntry()] });
        expect(await nextDue(stores)).toBeNull();
        expect(await stores.inbox.waiting(held.id)).toHaveLength(1);
      });

      it("is due at once for what an earlier commit of its own has queued", async () => {
        const held = await heldThread(stores);
        await threads.commit(aCommit(held, { queued: [anEntry()] }));
        await laidDown(held, null, { seq: 1 });
        expect(await nextDue(stores)).toBe(0);
      });
    });

    it("cannot bring a terminated thread back", async () => {
      const held = await heldThread(stores);
      const terminated = await threads.terminate(held.id, anEntry({ kind: "stop" }));
      expect(await threads.commit(aCommit(held, { status: "idle" }))).toMatchObject({ outcome: "committed" });
      expect(await threads.get(held.id)).toMatchObject({
        status: "terminated",
        terminated_at: terminated?.terminated_at,
        next_seq: 1,
      });
    });

    it("keeps the answer it says nothing of, and erases the one it has done with", async () => {
      const held = await heldThread(stores);
      const answer = async () => (await threads.load(held.id))?.answer;
      await threads.commit(aCommit(held, { answer: "sealed answer" }));
      await threads.commit(aCommit(held, { seq: 1 }));
      expect(await answer()).toBe("sealed answer");
      await threads.commit(aCommit(held, { seq: 2, answer: "another" }));
      expect(await answer()).toBe("another");
      await threads.commit(aCommit(held, { seq: 3, answer: null }));
      expect(await answer()).toBeNull();
      expect(JSON.stringify(await everything(driver))).not.toContain("another");
    });

    it("follows a run to its end", async () => {
      const held = await heldThread(stores);
      const begun = { key: "run one", status: "running", outcome: null, ended: false };
      await threads.commit(aCommit(held, { run_change: begun }));
      expect(await threads.run(held.id, 1)).toEqual({
        run: 1,
        run_key: "run one",
        status: "running",
        outcome: null,
        started_at: expect.any(Number),
        ended_at: null,
      });
      const ended = { status: "completed", outcome: '{"status":"completed"}', ended: true };
      await threads.commit(aCommit(held, { seq: 1, run_change: ended }));
      expect(await threads.run(held.id, 1)).toMatchObject({
        run_key: "run one",
        status: "completed",
        outcome: '{"status":"completed"}',
        ended_at: expect.any(Number),
      });
      await threads.commit(aCommit(held, { seq: 2, run: 2, run_change: { ...ended, key: "run two" } }));
      expect(await threads.run(held.id, 2)).toMatchObject({ status: "completed", ended_at: expect.any(Number) });
    });

    it("begins a call again under its own lease, as the same call", async () => {
      const id = await dueThread(stores);
      const [first] = await claim(stores, { lease_us: 0 });
      await threads.commit(aCommit({ id, epoch: first?.epoch ?? 0 }, { lease_us: 0, calls: [aBegunCall(0)] }));
      const before = await threads.call(id, 1, 0);
      expect(before).toMatchObject({ phase: "begun", epoch: 1, idempotency_key: "idempotency key 0" });
      expect((before?.certain_at ?? 0) - (before?.begun_at ?? 0)).toBeGreaterThanOrEqual(MINUTE);

      const [second] = await claim(stores);
      const again = aBegunCall(0, { certain_after: 2 * MINUTE });
      await threads.commit(aCommit({ id, epoch: second?.epoch ?? 0 }, { seq: 1, calls: [again] }));
      const after = await threads.call(id, 1, 0);
      expect(after).toEqual({ ...before, epoch: 2, certain_at: after?.certain_at });
      expect(after?.certain_at).toBeGreaterThan((before?.certain_at ?? 0) + MINUTE / 2);
    });

    it("settles a call of an earlier run", async () => {
      const held = await heldThread(stores);
      await threads.commit(aCommit(held, { calls: [aBegunCall(0)] }));
      const ended = {
        change: "ended",
        number: 0,
        phase: "unknown",
        outcome: "outcome_unknown",
        message_seq: 3,
      } as const;
      await threads.commit(aCommit(held, { seq: 1, run: 2, calls: [aBegunCall(0), { ...ended, run: 1 }] }));
      expect(await threads.calls(held.id)).toMatchObject([
        { run: 1, phase: "unknown", outcome: "outcome_unknown", message_seq: 3 },
        { run: 2, phase: "begun", outcome: null },
      ]);
    });

    it("settles a request that was answered, and keeps the time of the answer", async () => {
      const held = await heldThread(stores);
      await threads.commit(aCommit(held, { opened_requests: [aRequest({ id: "request" })] }));
      await stores.requests.submit("request", { body: '{"result":1}', payload_hash: "hash", mac: "mac" });
      const answered = await stores.requests.get("request");
      const closed_requests = [{ id: "request", from: "answered", to: "settled" }] as const;
      expect(await threads.commit(aCommit(held, { seq: 1, closed_requests }))).toMatchObject({ outcome: "committed" });
      expect(await stores.requests.get("request")).toEqual({ ...answered, status: "settled", sealed: null });
    });

    it("of a fact about the thread belongs to no run", async () => {
      const held = await heldThread(stores);
      await threads.commit(aCommit(held, { run: 2, event: { run: 0 }, messages: [aMessage("edited")] }));
      expect(await threads.events(held.id, {})).toMatchObject([{ run: 0 }]);
      expect(await threads.messages(held.id, {})).toMatchObject([{ run: 0 }]);
      expect(await threads.get(held.id)).toMatchObject({ run: 2 });
    });
  });
}
