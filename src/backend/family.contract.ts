// What the thread store promises of parents and children, as tests. How they end together has a suite of its own.
import { beforeEach, describe, expect, it } from "vitest";
import { aBegunCall, aCommit, aMessage, anEntry, aRequest, aThread } from "./contract/a-commit.ts";
import { aChild, aFile, aLink, anEffect, aStop, openChild, written } from "./contract/a-write.ts";
import { everything, heldThread, openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { ThreadStore } from "./thread-store.ts";

export function describeFamily(name: string, open: () => Promise<StoresInTest>): void {
  describe(`parents and children on ${name}`, () => {
    let stores: Stores;
    let threads: ThreadStore;
    let driver: SqlDriver;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      ({ threads } = stores);
      await openThread(stores, { id: "parent" });
    });

    const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

    it("a child is read as it was opened", async () => {
      const link = aLink({ side: "b", blocking: true, spawn_group: "group", request_id: "request" });
      const own = { user_id: "ada", tags: ["b", "a"], arguments: "sealed arguments", agent: "sales" };
      await threads.open(aThread({ id: "child", parent_id: "parent", child: link, child_status: "running", ...own }));
      const { arguments: sealed, ...listed } = own;
      const child = { id: "child", parent_id: "parent", origin_agent: "sales", child: link, ...listed };
      expect(await threads.get("child")).toMatchObject({ ...child, child_status: "running" });
      expect(await threads.load("child")).toMatchObject({ thread: child, arguments: sealed });
      expect(await threads.arguments("child")).toBe(sealed);
      expect(await threads.arguments("parent")).toBeNull();
      expect(await threads.arguments("nobody")).toBeNull();
    });

    it("keeps nothing of a thread whose key is taken", async () => {
      await openThread(stores, { id: "first", key: "key" });
      await threads.open(aThread({ id: "second", key: "key", arguments: "sealed" }));
      expect((await everything(driver)).thread_arguments).toEqual([]);
    });

    it("lists children, the oldest first", async () => {
      for (const id of ["a", "b", "c"]) {
        await openChild(stores, "parent", { id }, { relationship: id === "b" ? "writer" : "helper" });
      }
      await openChild(stores, "a", { id: "grandchild" });
      await threads.terminate("c", aStop());
      expect(ids(await threads.children("parent", {}))).toEqual(["a", "b", "c"]);
      expect(ids(await threads.children("parent", { live: true }))).toEqual(["a", "b"]);
      expect(ids(await threads.children("parent", { live: false }))).toEqual(["c"]);
      expect(ids(await threads.children("parent", { relationship: "helper", limit: 1 }))).toEqual(["a"]);
      expect(ids(await threads.children("parent", { relationship: "helper", live: false }))).toEqual(["c"]);
      expect(ids(await threads.children("parent", { after: "a", limit: 1 }))).toEqual(["b"]);
      expect(ids(await threads.children("parent", { after: "b" }))).toEqual(["c"]);
      expect(ids(await threads.children("parent", { after: "a", live: false }))).toEqual(["c"]);
      for (const after of ["c", "grandchild", "nobody"])
        expect(await threads.children("parent", { after }), after).toEqual([]);
      expect(await threads.children("nobody", {})).toEqual([]);
      expect((await threads.children("a", {}))[0]).toEqual(await threads.get("grandchild"));
    });

    it("counts the children that are not terminated", async () => {
      for (const id of ["a", "b", "c"]) await openChild(stores, "parent", { id });
      await openChild(stores, "parent", {}, { relationship: "writer" });
      await threads.terminate("c", aStop());
      expect(await threads.liveChildren("parent", null)).toBe(3);
      expect(await threads.liveChildren("parent", "helper")).toBe(2);
      expect(await threads.liveChildren("parent", "nobody")).toBe(0);
      expect(await threads.liveChildren("a", null)).toBe(0);
    });

    it("finds all who descend from a thread and are not terminated", async () => {
      await openChild(stores, "parent", { id: "a" });
      await openChild(stores, "a", { id: "of a" });
      await openChild(stores, "parent", { id: "b" });
      await openChild(stores, "b", { id: "of b" });
      await openChild(stores, "of a", { id: "deep" });
      await threads.terminate("b", aStop());
      expect(ids(await threads.descendants("parent"))).toEqual(["a", "of a", "deep"]);
      expect(ids(await threads.descendants("of a"))).toEqual(["deep"]);
      expect(await threads.descendants("deep")).toEqual([]);
      expect(await threads.descendants("nobody")).toEqual([]);
      await openChild(stores, "deep", { id: "deepest", agent: "helper" });
      await threads.terminate("deepest", aStop());
      expect(await threads.agentsBelow("parent")).toEqual(["helper", "support"]);
      expect(await threads.agentsBelow("deepest")).toEqual([]);
    });

    it("lists threads by their parent", async () => {
      await openChild(stores, "parent", { id: "child" });
      await openThread(stores, { id: "alone" });
      expect(ids(await threads.list({ parent: null }))).toEqual(["parent", "alone"]);
      expect(ids(await threads.list({ parent: "parent" }))).toEqual(["child"]);
      expect(ids(await threads.list({ parent: null, after: "parent" }))).toEqual(["alone"]);
      expect(await threads.list({})).toHaveLength(3);
    });

    it("makes no child of a thread that is terminated or gone", async () => {
      await threads.terminate("parent", aStop());
      await openThread(stores, { id: "living" });
      for (const parent of ["parent", "nobody"]) {
        const thread = aChild(parent, { id: "child", arguments: "sealed" });
        const before = await everything(driver);
        expect(await stores.writes.apply("living", [{ write: "thread", thread }])).toBe("overtaken");
        expect(await everything(driver)).toEqual(before);
      }
    });

    describe("a thread that is deleted", () => {
      /** Something in every table. */
      async function fill(id: string): Promise<void> {
        const held = await heldThread(stores, { id, arguments: "sealed" });
        const run_change = { key: "run", status: "running", outcome: null, ended: false };
        const own = { messages: [aMessage("one")], calls: [aBegunCall(0)], answer: "sealed", run_change };
        await threads.commit(aCommit(held, { ...own, opened_requests: [aRequest()], drained: [1] }));
        await stores.liveText.put({ thread_id: id, step: 0, attempt: 0, commit: 1, segments: [] });
        const variable = { write: "variable", thread_id: id, name: "X", sealed: "x", type: "text" } as const;
        await written(
          stores,
          id,
          { write: "value", thread_id: id, key: "a", value: "1" },
          { ...variable, inherited: false },
          { write: "file", thread_id: id, file: aFile("/a", "text") },
          { write: "effect", thread_id: id, effect: anEffect() },
        );
      }

      it("is gone with all that descend from it, and nothing else is", async () => {
        await fill("other");
        const before = await everything(driver);
        await fill("root");
        await openChild(stores, "root", { id: "child" });
        await openChild(stores, "child", { id: "grandchild", arguments: "sealed" });
        await stores.inbox.put("grandchild", anEntry());
        await threads.terminate("child", aStop());
        expect([...(await threads.delete("root"))].sort()).toEqual(["child", "grandchild", "root"]);
        // That they were there, and were deleted, stays.
        const { audit_tombstones, ...rest } = await everything(driver);
        expect(audit_tombstones?.map(({ thread_id }) => thread_id).sort()).toEqual(["child", "grandchild", "root"]);
        expect({ ...rest, audit_tombstones: [] }).toEqual(before);
        expect(await stores.files.content(aFile("/a", "text").hash)).toBeDefined();
      });

      it("was not there: nothing happens", async () => {
        const before = await everything(driver);
        expect(await threads.delete("nobody")).toEqual([]);
        expect(await everything(driver)).toEqual(before);
      });

      it("is lost to whoever held it", async () => {
        const held = await heldThread(stores);
        await threads.delete(held.id);
        expect(await threads.commit(aCommit(held))).toEqual({ outcome: "lost" });
      });

      it("answers the parent that waits for it", async () => {
        const held = await heldThread(stores);
        await threads.commit(aCommit(held, { opened_requests: [aRequest({ id: "request", kind: "child" })] }));
        const child = await openChild(stores, held.id, {}, { request_id: "request" });
        expect(await threads.delete(child)).toEqual([child]);
        expect(await stores.requests.get("request")).toMatchObject({ status: "answered" });
        expect(await stores.inbox.waiting(held.id)).toMatchObject([{ seq: 1 }, { seq: 2, kind: "answer" }]);
      });
    });
  });
}
