// What forking a thread promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aBegunCall, aCommit, aMessage, anEntry } from "./contract/a-commit.ts";
import { aChild, aFile, anEffect, written } from "./contract/a-write.ts";
import { claim, everything, heldThread, openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { NewFork, ThreadStore } from "./thread-store.ts";

export function describeFork(name: string, open: () => Promise<StoresInTest>): void {
  describe(`a fork on ${name}`, () => {
    let stores: Stores;
    let threads: ThreadStore;
    let driver: SqlDriver;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      ({ threads } = stores);
      await threadWithHistory();
    });

    /** Settled after the events 0 and 2; from event 2 on a summary stands for the first two messages. */
    async function threadWithHistory(): Promise<void> {
      const held = await heldThread(stores, { id: "parent", agent: "sales" });
      const two = [aMessage("zero"), aMessage("one")];
      await threads.commit(aCommit(held, { steps: 1, messages: two, event: { settled: true } }));
      const open = { seq: 1, messages: [aMessage("two")], event: { messages_from: 2 }, calls: [aBegunCall(0)] };
      await threads.commit(
        aCommit(held, { ...open, steps: 2, answer: "sealed answer", state: "{}", working: "sealed" }),
      );
      const summary = [aMessage("summary", { kind: "summary" }), aMessage("four", { kind: "edit", supersedes: 2 })];
      const third = { seq: 2, messages: summary, event: { messages_from: 3, settled: true }, tail_from: 2 };
      await threads.commit(aCommit(held, { ...third, steps: 3, summary_seq: 3 }));
      const last = { seq: 3, messages: [aMessage("five")], event: { messages_from: 5 }, tail_from: 2, summary_seq: 3 };
      await threads.commit(aCommit(held, { ...last, steps: 4, lease_us: 0 }));
    }

    async function fork(parts: Partial<NewFork> = {}) {
      const records = '[{"fact":{"type":"forked"}}]';
      return threads.fork({ id: "child", key: "key", from: "parent", at: 2, hash: "hash of fork", records, ...parts });
    }

    const parentRows = async () => {
      const tables = Object.entries(await everything(driver));
      return tables.map(([, rows]) => rows.filter(({ id, thread_id }) => (thread_id ?? id) === "parent"));
    };

    it("begins with the history up to its event", async () => {
      expect(await fork({ at: 0 })).toBe("forked");
      expect(await threads.load("child")).toEqual({
        thread: {
          id: "child",
          kind: "thread",
          key: "key",
          agent: "sales",
          origin_agent: "sales",
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
          steps: 1,
          next_seq: 1,
          next_message: 2,
        },
        epoch: 0,
        wake_rev: 0,
        state: null,
        working: null,
        answer: null,
        tail_from: 0,
        summary_seq: null,
        last_hash: "hash of fork",
        arguments: null,
        subject: null,
        has_due_effect: false,
        messages: (await threads.messages("parent", { limit: 2 })).map((message) => ({ ...message, run: 0 })),
      });
    });

    it("keeps the summary, and everything that it stands for", async () => {
      expect(await fork({ at: 2 })).toBe("forked");
      const loaded = await threads.load("child");
      expect(loaded).toMatchObject({ thread: { steps: 3, next_message: 5 }, tail_from: 2, summary_seq: 3 });
      expect(loaded?.messages.map(({ seq }) => seq)).toEqual([3, 2, 4]);
      const copied = await threads.messages("child", {});
      const original = await threads.messages("parent", { limit: 5 });
      expect(copied).toEqual(original.map((message) => ({ ...message, run: 0 })));
    });

    it("has one event of its own, at which it may be forked again", async () => {
      await fork();
      expect(await threads.events("child", {})).toEqual([
        {
          ...{ seq: 0, run: 0, step: 3, records: '[{"fact":{"type":"forked"}}]', notes: null, messages_from: 0 },
          ...{
            salt: null,
            notes_hash: null,
            messages_to: 5,
            tail_from: 2,
            summary_seq: 3,
            settled: true,
            at: expect.any(Number),
          },
          hash: "hash of fork",
        },
      ]);
      expect(await fork({ id: "grandchild", key: "another key", from: "child", at: 0 })).toBe("forked");
      expect(await threads.load("grandchild")).toMatchObject({ tail_from: 2, summary_seq: 3, thread: { steps: 3 } });
    });

    it("has nothing else of its parent, and nothing to do", async () => {
      await fork();
      expect(await stores.inbox.waiting("child")).toEqual([]);
      expect(await threads.calls("child")).toEqual([]);
      expect(await threads.runs("child")).toEqual([]);
      expect(await claim(stores, { agents: ["sales"] })).toMatchObject([{ id: "parent" }]);
    });

    it("has the files and values of its parent and what comes with it, and not its variables, children and effects", async () => {
      const variable = { write: "variable", thread_id: "parent", name: "X", sealed: "x", type: "secret" } as const;
      await written(
        stores,
        "parent",
        { write: "file", thread_id: "parent", file: aFile("/a", "text", { metadata: "{}" }) },
        { write: "value", thread_id: "parent", key: "a", value: "1" },
        { ...variable, inherited: true },
        { write: "effect", thread_id: "parent", effect: anEffect() },
        { write: "thread", thread: aChild("parent") },
        { write: "agent", thread_id: "parent", agent: "support" },
      );
      const own = { ...variable, thread_id: "child", name: "Y", inherited: false } as const;
      await fork({ writes: [own] });
      expect(await stores.files.get("child", "/a")).toEqual(await stores.files.get("parent", "/a"));
      expect(await stores.state.values("child")).toEqual([{ key: "a", value: "1" }]);
      expect(await stores.state.variables("child")).toEqual([
        { name: "Y", sealed: "x", type: "secret", inherited: false },
      ]);
      expect(await stores.state.effects("child", {})).toEqual([]);
      expect(await threads.children("child", {})).toEqual([]);
      await written(stores, "child", { write: "value", thread_id: "child", key: "a", value: "2" });
      expect(await stores.state.value("parent", "a")).toBe("1");
      expect(await threads.get("child")).toMatchObject({ agent: "support", origin_agent: "sales" });
    });

    it("of a child is nobody's child, and belongs to the same user", async () => {
      const own = { user_id: "ada", tags: ["a"], arguments: "sealed" };
      const held = await heldThread(stores, aChild("parent", { id: "of parent", ...own }));
      await threads.commit(aCommit(held, { event: { settled: true } }));
      expect(await fork({ from: "of parent", at: 0 })).toBe("forked");
      const forked = { parent_id: null, child: null, child_status: null, user_id: "ada", tags: ["a"] };
      expect(await threads.load("child")).toMatchObject({ thread: forked, arguments: null });
    });

    it("keeps how deep messages are", async () => {
      const held = await heldThread(stores);
      const messages = [aMessage("call"), aMessage("deep", { depth: 1, parent_seq: 0 })];
      await threads.commit(aCommit(held, { messages, event: { settled: true } }));
      await fork({ from: held.id, at: 0 });
      expect(await threads.messages("child", {})).toMatchObject(messages);
    });

    it("goes its own way, and so does its parent", async () => {
      const before = await parentRows();
      await fork();
      await stores.inbox.put("child", anEntry());
      const held = (await claim(stores, { agents: ["sales"] })).find(({ id }) => id === "child");
      const next = { seq: 1, messages: [aMessage("of the child")], event: { messages_from: 5 } };
      const committed = await threads.commit(aCommit({ id: "child", epoch: held?.epoch ?? 0 }, next));
      expect(committed).toMatchObject({ outcome: "committed" });
      expect((await threads.messages("child", { from: 5 })).map(({ hash }) => hash)).toEqual(["hash of of the child"]);
      expect((await threads.messages("parent", { from: 5 })).map(({ hash }) => hash)).toEqual(["hash of five"]);
      const [, ...after] = await parentRows();
      expect(after).toEqual(before.slice(1));
    });

    it.each([1, 3, 9, -1])("is not made at an event that is not settled or not there: %s", async (at) => {
      const before = await everything(driver);
      expect(await fork({ at })).toBe("not_settled");
      expect(await everything(driver)).toEqual(before);
    });

    it("is not made of a thread that is not there", async () => {
      expect(await fork({ from: "nobody", at: 0 })).toBe("not_settled");
      expect(await threads.get("child")).toBeUndefined();
    });

    it("under a key that is taken is known, and changes nothing", async () => {
      await fork();
      await openThread(stores, { key: "taken" });
      const before = await everything(driver);
      expect(await fork({ id: "another" })).toBe("known");
      expect(await fork({ id: "another", key: "taken" })).toBe("known");
      expect(await everything(driver)).toEqual(before);
    });

    it("is made once, however many ask at the same time", async () => {
      const asked = Array.from({ length: 8 }, (_, index) => fork({ id: `child ${index}` }));
      const outcomes = await Promise.all(asked);
      expect(outcomes.filter((outcome) => outcome === "forked")).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === "known")).toHaveLength(7);
      const made = await threads.byKey("key");
      expect(made?.id).toBe(`child ${outcomes.indexOf("forked")}`);
      expect(await threads.list({ agent: "sales" })).toHaveLength(2);
    });
  });
}
