// What every thread store promises, as tests: threads are opened, listed, loaded and terminated. Commits and forks have
// suites of their own.
import { beforeEach, describe, expect, it } from "vitest";
import { aBegunCall, aCommit, aMessage, anEntry, aThread, MINUTE } from "./contract/a-commit.ts";
import { anEffect, written } from "./contract/a-write.ts";
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
import type { ThreadQuery, ThreadStore } from "./thread-store.ts";

export function describeThreadStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`thread store on ${name}`, () => {
    let stores: Stores;
    let threads: ThreadStore;
    let driver: SqlDriver;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      ({ threads } = stores);
    });

    describe("a thread", () => {
      it("is opened once and known afterwards", async () => {
        const opened = await threads.open(aThread({ id: "one", key: "customer 42" }));
        expect(opened).toEqual({
          outcome: "opened",
          thread: {
            id: "one",
            kind: "thread",
            key: "customer 42",
            agent: "support",
            origin_agent: "support",
            parent_id: null,
            user_id: null,
            tags: [],
            child: null,
            child_status: null,
            budget: null,
            status: "idle",
            created_at: expect.any(Number),
            updated_at: expect.any(Number),
            terminated_at: null,
            run: 0,
            steps: 0,
            next_seq: 0,
            next_message: 0,
          },
        });
        const again = await threads.open(aThread({ id: "two", key: "customer 42", agent: "sales" }));
        expect(again).toEqual({ outcome: "known", thread: opened.thread });
        expect(await threads.get("two")).toBeUndefined();
      });

      it("is opened with what comes with it, or not at all", async () => {
        const write = (thread_id: string) =>
          [
            { write: "value", thread_id, key: "a", value: "1" },
            { write: "entry", thread_id, entry: anEntry() },
          ] as const;
        await threads.open(aThread({ id: "one", key: "customer 42" }), write("one"));
        expect(await stores.state.value("one", "a")).toBe("1");
        expect(await stores.inbox.waiting("one")).toHaveLength(1);
        const before = await everything(driver);
        const again = await threads.open(aThread({ id: "two", key: "customer 42" }), write("one"));
        expect(again).toMatchObject({ outcome: "known", thread: { id: "one" } });
        expect(await everything(driver)).toEqual(before);
      });

      it("is opened by one of many who ask at the same time", async () => {
        const asked = Array.from({ length: 20 }, () => threads.open(aThread({ key: "customer 42" })));
        const answers = await Promise.all(asked);
        expect(answers.filter(({ outcome }) => outcome === "opened")).toHaveLength(1);
        expect(new Set(answers.map(({ thread }) => thread.id)).size).toBe(1);
        expect(await threads.list({})).toHaveLength(1);
      });

      it("is found by its id and by its key", async () => {
        const { thread } = await threads.open(aThread({ id: "one", key: "customer 42" }));
        expect(await threads.get("one")).toEqual(thread);
        expect(await threads.byKey("customer 42")).toEqual(thread);
        expect(await threads.get("customer 42")).toBeUndefined();
        expect(await threads.byKey("one")).toBeUndefined();
      });

      it("is seen in one go, with whom it acts for and whether something waits for it", async () => {
        const subject = {
          ...{ principal: '{"acting_user_id":7}', workspace_type: null, workspace_id: null, context: "chat" },
          ...{ owner_type: "user", owner_key: "7", consent: "{}" },
        };
        const { thread } = await threads.open(aThread({ id: "one", key: "customer 42", subject }));
        expect(await threads.glance("one")).toEqual({ thread, subject, has_waiting: false });
        await openThread(stores, { id: "other", key: "other" });
        await stores.inbox.put("other", anEntry());
        expect(await threads.glance("one")).toMatchObject({ has_waiting: false });
        expect(await threads.glance("other")).toMatchObject({
          thread: { id: "other" },
          subject: null,
          has_waiting: true,
        });
        const held = await heldThread(stores, { id: "third", key: "third" });
        expect(await threads.glance("third")).toMatchObject({ has_waiting: true });
        await threads.commit(aCommit(held, { drained: [1] }));
        expect(await threads.glance("third")).toMatchObject({ thread: { id: "third" }, has_waiting: false });
        expect(await threads.glance("customer 42")).toBeUndefined();
      });

      it("that is new has nothing to do", async () => {
        await openThread(stores);
        expect(await nextDue(stores)).toBeNull();
        expect(await claim(stores)).toEqual([]);
      });
    });

    describe("the list", () => {
      const ids = async (query: ThreadQuery) => (await threads.list(query)).map(({ id }) => id);

      async function laidDown(id: string, status: ThreadStatus): Promise<void> {
        const held = await heldThread(stores, { id });
        await threads.commit(aCommit(held, { status, settle: { wake_rev: held.wake_rev, due_after: null } }));
      }

      it("is in the order of creation, page by page", async () => {
        for (const id of ["zebra", "ant", "Bee", "fly", "cat"]) await openThread(stores, { id });
        expect(await ids({})).toEqual(["zebra", "ant", "Bee", "fly", "cat"]);
        expect(await ids({ limit: 2 })).toEqual(["zebra", "ant"]);
        expect(await ids({ limit: 2, after: "ant" })).toEqual(["Bee", "fly"]);
        expect(await ids({ limit: 2, after: "fly" })).toEqual(["cat"]);
        expect(await ids({ after: "cat" })).toEqual([]);
        expect(await ids({ after: "nobody" })).toEqual([]);
      });

      it("holds a hundred unless told otherwise", async () => {
        const opened = Array.from({ length: 103 }, () => openThread(stores));
        await Promise.all(opened);
        const page = await ids({});
        expect(page).toHaveLength(100);
        const rest = await ids({ after: page.at(-1) ?? "" });
        expect([...page, ...rest].sort()).toEqual((await Promise.all(opened)).sort());
      });

      it("may be of one agent, of one status or of both", async () => {
        await openThread(stores, { id: "new" });
        await openThread(stores, { id: "sold", agent: "sales" });
        for (const status of ["idle", "running", "waiting", "stopped"] as const) await laidDown(status, status);
        await openThread(stores, { id: "terminated" });
        await threads.terminate("terminated", anEntry());
        const stuck = await heldThread(stores, { id: "stuck" });
        await stores.engine.markStuck(stuck.id, stuck.epoch);

        expect(await ids({ agent: "sales" })).toEqual(["sold"]);
        expect(await ids({ status: "idle" })).toEqual(["new", "sold", "idle"]);
        for (const status of ["running", "waiting", "stopped", "terminated", "stuck"] as const) {
          expect(await ids({ status })).toEqual([status]);
          expect(await threads.get(status)).toMatchObject({ status });
          expect(await ids({ status, agent: "sales" })).toEqual([]);
        }
        expect(await ids({ agent: "support", status: "idle", after: "new", limit: 1 })).toEqual(["idle"]);
      });
    });

    describe("loading", () => {
      it("gives nothing for a thread that is not there", async () => {
        expect(await threads.load("nobody")).toBeUndefined();
      });

      it("gives a new thread as it was opened", async () => {
        const { thread } = await threads.open(aThread({ hash: "genesis" }));
        expect(await threads.load(thread.id)).toEqual({
          thread,
          epoch: 0,
          wake_rev: 0,
          state: null,
          working: null,
          answer: null,
          tail_from: 0,
          summary_seq: null,
          last_hash: "genesis",
          arguments: null,
          subject: null,
          has_due_effect: false,
          messages: [],
        });
      });

      it("tells whether an effect is due", async () => {
        const id = await openThread(stores);
        const hasDueEffect = async () => (await threads.load(id))?.has_due_effect;
        await written(stores, id, { write: "effect", thread_id: id, effect: anEffect({ after: MINUTE }) });
        expect(await hasDueEffect()).toBe(false);
        await written(stores, id, { write: "effect", thread_id: id, effect: anEffect({ id: "due" }) });
        expect(await hasDueEffect()).toBe(true);
        const change = { write: "effect_change", thread_id: id, id: "due" } as const;
        await written(stores, id, { ...change, from: ["pending"], to: "processing" });
        expect(await hasDueEffect()).toBe(true);
        await written(stores, id, { ...change, from: ["processing"], to: "completed" });
        expect(await hasDueEffect()).toBe(false);
      });

      it("gives what the last commit left", async () => {
        const held = await heldThread(stores);
        const kept = { state: '{"b":1,"a":2}', working: "sealed working", answer: "sealed answer" };
        await threads.commit(aCommit(held, { ...kept, run: 2, steps: 3, event: { hash: "next" } }));
        expect(await threads.load(held.id)).toMatchObject({
          ...kept,
          thread: { status: "running", run: 2, steps: 3, next_seq: 1, next_message: 0 },
          epoch: held.epoch,
          wake_rev: 1,
          last_hash: "next",
        });
      });

      it("gives the whole transcript in order, with what supersedes earlier messages", async () => {
        const held = await heldThread(stores);
        const messages = [
          aMessage("one"),
          aMessage("two"),
          aMessage("two, better", { kind: "edit", supersedes: 1 }),
          aMessage("", { kind: "deletion", supersedes: 0 }),
        ];
        await threads.commit(aCommit(held, { run: 2, steps: 3, messages }));
        const loaded = await threads.load(held.id);
        expect(loaded?.messages).toEqual(
          messages.map((message, seq) => ({ ...message, seq, run: 2, step: 3, at: expect.any(Number) })),
        );
      });

      it("begins with the summary, and goes on with what comes after it", async () => {
        const held = await heldThread(stores);
        const texts = ["one", "two", "three"];
        await threads.commit(aCommit(held, { messages: texts.map((text) => aMessage(text)) }));
        const summary = aMessage("first summary", { kind: "summary" });
        const first = { seq: 1, messages: [summary, aMessage("four")], event: { messages_from: 3 } };
        await threads.commit(aCommit(held, { ...first, tail_from: 2, summary_seq: 3 }));
        expect(await loadedTexts(held)).toEqual(["first summary", "three", "four"]);

        const second = [aMessage("second summary", { kind: "summary" }), aMessage("five")];
        const next = { seq: 2, messages: second, event: { messages_from: 5 } };
        await threads.commit(aCommit(held, { ...next, tail_from: 2, summary_seq: 5 }));
        expect(await loadedTexts(held)).toEqual(["second summary", "three", "four", "five"]);
        expect(await threads.load(held.id)).toMatchObject({ tail_from: 2, summary_seq: 5 });
      });

      async function loadedTexts({ id }: Held): Promise<unknown[]> {
        const { messages = [] } = (await threads.load(id)) ?? {};
        return messages.map(({ envelope }) => JSON.parse(envelope).text);
      }
    });

    describe("terminating", () => {
      it("leaves a stop for whoever works on the thread, and tells at once", async () => {
        const held = await heldThread(stores);
        const heard = await heardOn(driver);
        const stop = anEntry({ kind: "stop", body: '{"reason":"Terminated."}', urgent: true });
        const thread = await threads.terminate(held.id, stop);
        expect(thread).toMatchObject({ status: "terminated", terminated_at: expect.any(Number) });
        expect(await threads.get(held.id)).toEqual(thread);
        expect(await stores.inbox.waiting(held.id)).toMatchObject([{ seq: 1 }, { seq: 2, kind: "stop" }]);
        expect(await heard.all()).toEqual([held.id]);
      });

      it("makes a thread due that nobody holds, also a stopped one", async () => {
        const held = await heldThread(stores);
        const settle = { wake_rev: held.wake_rev, due_after: null };
        await threads.commit(aCommit(held, { status: "stopped", drained: [1], settle }));
        await threads.terminate(held.id, anEntry({ kind: "stop" }));
        expect(await claim(stores)).toMatchObject([{ id: held.id }]);
      });

      it("counts the first time", async () => {
        const id = await openThread(stores);
        const first = await threads.terminate(id, anEntry({ kind: "stop" }));
        const before = await everything(driver);
        const heard = await heardOn(driver);
        expect(await threads.terminate(id, anEntry({ kind: "stop", urgent: true }))).toEqual(first);
        expect(await everything(driver)).toEqual(before);
        expect(await heard.all()).toEqual([]);
      });

      it("happens once, however many ask at the same time", async () => {
        const id = await openThread(stores);
        const asked = Array.from({ length: 10 }, () => threads.terminate(id, anEntry({ kind: "stop" })));
        expect(new Set((await Promise.all(asked)).map((thread) => thread?.terminated_at)).size).toBe(1);
        expect(await stores.inbox.waiting(id)).toHaveLength(1);
      });

      it("gives nothing for a thread that is not there", async () => {
        const before = await everything(driver);
        expect(await threads.terminate("nobody", anEntry())).toBeUndefined();
        expect(await everything(driver)).toEqual(before);
      });
    });

    describe("reading", () => {
      /** Three commits: two of run 1, one of run 2. */
      async function threadWithHistory(): Promise<string> {
        const held = await heldThread(stores);
        const first = { messages: [aMessage("zero"), aMessage("one")], event: { records: '["first"]', settled: true } };
        await threads.commit(aCommit(held, { ...first, steps: 1, run_change: aRun("run one") }));
        const aNote = { notes: '["note"]', salt: "salt", notes_hash: "hash of note" };
        const second = { seq: 1, messages: [aMessage("two")], event: { messages_from: 2, ...aNote } };
        await threads.commit(aCommit(held, { ...second, steps: 2, calls: [aBegunCall(1), aBegunCall(0)] }));
        const third = { seq: 2, run: 2, messages: [aMessage("three")], event: { messages_from: 3, settled: true } };
        const calls = [aBegunCall(0)];
        await threads.commit(aCommit(held, { ...third, steps: 2, run_change: aRun("run two"), calls }));
        return held.id;
      }

      const aRun = (key: string) => ({ key, status: "running", outcome: null, ended: false });

      it("gives messages from one on, up to a limit, whatever their kind", async () => {
        const id = await threadWithHistory();
        const seqs = async (range: Parameters<ThreadStore["messages"]>[1]) =>
          (await threads.messages(id, range)).map(({ seq }) => seq);
        expect(await seqs({})).toEqual([0, 1, 2, 3]);
        expect(await seqs({ from: 1, limit: 2 })).toEqual([1, 2]);
        expect(await seqs({ from: 4 })).toEqual([]);
        expect(await seqs({ limit: 0 })).toEqual([]);
        expect(await threads.messages("nobody", {})).toEqual([]);
        expect(await threads.messages(id, { from: 2, limit: 1 })).toEqual([
          { ...aMessage("two"), seq: 2, run: 1, step: 2, at: expect.any(Number) },
        ]);
      });

      it("gives events after one, up to a limit, and those of a run", async () => {
        const id = await threadWithHistory();
        const seqs = async (range: Parameters<ThreadStore["events"]>[1]) =>
          (await threads.events(id, range)).map(({ seq }) => seq);
        expect(await seqs({})).toEqual([0, 1, 2]);
        expect(await seqs({ after: 0, limit: 1 })).toEqual([1]);
        expect(await seqs({ after: 2 })).toEqual([]);
        expect((await threads.eventsOfRun(id, 1)).map(({ seq }) => seq)).toEqual([0, 1]);
        expect((await threads.eventsOfRun(id, 2)).map(({ seq }) => seq)).toEqual([2]);
        expect(await threads.eventsOfRun(id, 3)).toEqual([]);
        expect(await Promise.all([1, 2, 3].map((run) => threads.firstEventOf(id, run)))).toEqual([0, 2, undefined]);
        expect(await threads.firstEventOf("nobody", 1)).toBeUndefined();
        expect(await threads.events(id, { limit: 2 })).toEqual([
          {
            ...{ seq: 0, run: 1, step: 1, records: '["first"]', notes: null, messages_from: 0, messages_to: 2 },
            ...{ salt: null, notes_hash: null },
            ...{ tail_from: 0, summary_seq: null, settled: true, at: expect.any(Number), hash: "hash" },
          },
          {
            ...{ seq: 1, run: 1, step: 2, records: "[]", notes: '["note"]', messages_from: 2, messages_to: 3 },
            ...{ salt: "salt", notes_hash: "hash of note" },
            ...{ tail_from: 0, summary_seq: null, settled: false, at: expect.any(Number), hash: "hash" },
          },
        ]);
      });

      it("finds the last settled event, not after the given one", async () => {
        const id = await threadWithHistory();
        const last = async (atMost: number | null) => (await threads.settledEvent(id, atMost))?.seq;
        expect([await last(null), await last(9), await last(2), await last(1), await last(0)]).toEqual([2, 2, 2, 0, 0]);
        expect(await last(-1)).toBeUndefined();
        expect(await threads.settledEvent(await openThread(stores), null)).toBeUndefined();
      });

      it("gives runs and calls by their number, in order", async () => {
        const id = await threadWithHistory();
        expect((await threads.runs(id)).map(({ run, run_key }) => ({ run, run_key }))).toEqual([
          { run: 1, run_key: "run one" },
          { run: 2, run_key: "run two" },
        ]);
        const page = async (range: Parameters<ThreadStore["runs"]>[1]) =>
          (await threads.runs(id, range)).map(({ run }) => run);
        expect([await page({ limit: 1 }), await page({ after: 1, limit: 5 }), await page({ after: 2 })]).toEqual([
          [1],
          [2],
          [],
        ]);
        expect(await threads.run(id, 2)).toMatchObject({ run: 2, run_key: "run two" });
        expect(await threads.run(id, 3)).toBeUndefined();
        expect((await threads.calls(id)).map(({ run, number }) => [run, number])).toEqual([
          [1, 0],
          [1, 1],
          [2, 0],
        ]);
        const callsOf = async (range: Parameters<ThreadStore["calls"]>[1]) =>
          (await threads.calls(id, range)).map(({ run, number }) => `${run}.${number}`);
        expect(await callsOf({ run: 1 })).toEqual(["1.0", "1.1"]);
        expect(await callsOf({ limit: 2 })).toEqual(["1.0", "1.1"]);
        expect(await callsOf({ after: { run: 1, number: 0 }, limit: 9 })).toEqual(["1.1", "2.0"]);
        expect(await callsOf({ after: { run: 1, number: 9 } })).toEqual(["2.0"]);
        expect(await threads.call(id, 1, 1)).toMatchObject({ run: 1, number: 1, tool_call_id: "call 1" });
        expect(await threads.call(id, 2, 1)).toBeUndefined();
      });

      it("finds the calls of which nobody can tell, the longest known first", async () => {
        const holders: Held[] = [];
        for (let count = 0; count < 3; count++) holders.push(await heldThread(stores));
        const ending = { change: "ended", number: 0, outcome: "unknown", message_seq: 0 } as const;
        for (const held of holders) await threads.commit(aCommit(held, { calls: [aBegunCall(0), aBegunCall(1)] }));
        for (const held of [...holders].reverse()) {
          const calls = [
            { ...ending, phase: "unknown" },
            { ...ending, number: 1, phase: "settled" },
          ] as const;
          await threads.commit(aCommit(held, { seq: 1, calls }));
        }
        const found = await threads.unknownCalls(10);
        expect(found.map(({ thread_id, number }) => ({ thread_id, number }))).toEqual(
          holders.map(({ id }) => ({ thread_id: id, number: 0 })).reverse(),
        );
        expect(found[0]).toMatchObject({ phase: "unknown", settled_at: expect.any(Number) });
        expect(await threads.unknownCalls(2)).toEqual(found.slice(0, 2));
      });

      it("tells how far the given threads are", async () => {
        const [first, second] = [await threadWithHistory(), await openThread(stores)];
        await openThread(stores);
        const found = await threads.progress([second, "nobody", first]);
        expect([...found].sort((left, right) => left.next_seq - right.next_seq)).toEqual([
          { id: second, next_seq: 0, run: 0, status: "idle" },
          { id: first, next_seq: 3, run: 2, status: "running" },
        ]);
        expect(await threads.progress([])).toEqual([]);
      });
    });
  });
}
