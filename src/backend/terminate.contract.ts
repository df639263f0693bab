// What the end of a thread and of all that descend from it promises, as tests, however it comes about.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, anEntry, aRequest } from "./contract/a-commit.ts";
import { aChild, aLink, anEffect, aStop, openChild, written } from "./contract/a-write.ts";
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

export function describeTerminate(name: string, open: () => Promise<StoresInTest>): void {
  describe.each(["by the thread store", "by a write", "by a commit"] as const)(
    `the end of threads %s on ${name}`,
    (how) => {
      let stores: Stores;
      let driver: SqlDriver;
      let openSecond: StoresInTest["openSecond"];

      beforeEach(async () => {
        ({ stores, driver, openSecond } = await open());
        await openThread(stores, { id: "root" });
        await openChild(stores, "root", { id: "child" });
        await openChild(stores, "child", { id: "grandchild" });
        await openChild(stores, "root", { id: "sibling" });
      });

      async function terminate(id: string): Promise<void> {
        if (how === "by the thread store") await stores.threads.terminate(id, aStop());
        const write = { write: "terminate", thread_id: id, stop: aStop() } as const;
        if (how === "by a write") await written(stores, id, write);
        if (how !== "by a commit") return;
        const held = await heldThread(stores, { agent: `holder of ${crypto.randomUUID()}` });
        expect(await stores.threads.commit(aCommit(held, { drained: [1], writes: [write] }))).toMatchObject({
          outcome: "committed",
        });
        await stores.threads.delete(held.id);
      }

      const statusOf = async (id: string) => (await stores.threads.get(id))?.status;

      it("concerns all that descend from a thread, and nobody else", async () => {
        const heard = await heardOn(driver);
        await terminate("child");
        for (const id of ["child", "grandchild"]) {
          const thread = { status: "terminated", terminated_at: expect.any(Number), child_status: "terminated" };
          expect(await stores.threads.load(id)).toMatchObject({ thread, wake_rev: 1 });
          expect(await stores.inbox.waiting(id)).toMatchObject([{ seq: 1, kind: "stop" }]);
        }
        expect(await statusOf("root")).toBe("idle");
        expect(await statusOf("sibling")).toBe("idle");
        expect(await stores.threads.get("root")).toMatchObject({ child_status: null });
        const told = (await heard.all()).filter((id) => ["root", "child", "grandchild", "sibling"].includes(id));
        expect([...told].sort()).toEqual(["child", "grandchild"]);
        expect((await claim(stores)).map(({ id }) => id).sort()).toEqual(["child", "grandchild"]);
      });

      it("counts the first time", async () => {
        await terminate("grandchild");
        // Those who write for a test are deleted again, which leaves their tombstones.
        const allBut = async () => ({ ...(await everything(driver)), audit_tombstones: [] });
        const before = await allBut();
        await terminate("grandchild");
        expect(await allBut()).toEqual(before);
        const first = await stores.threads.get("grandchild");
        await terminate("root");
        expect(await stores.threads.get("grandchild")).toEqual(first);
        expect(await stores.inbox.waiting("grandchild")).toHaveLength(1);
        expect(await statusOf("sibling")).toBe("terminated");
      });

      it("numbers the entry behind those that wait", async () => {
        await stores.inbox.put("grandchild", anEntry());
        await stores.inbox.put("grandchild", anEntry());
        await terminate("root");
        expect((await stores.inbox.waiting("grandchild")).map(({ seq, kind }) => [seq, kind])).toEqual([
          [1, "message"],
          [2, "message"],
          [3, "stop"],
        ]);
      });

      it("ends effects, and requests for variables", async () => {
        const effect = (thread_id: string, id: string) =>
          ({ write: "effect", thread_id, effect: anEffect({ id }) }) as const;
        const request = (thread_id: string, kind: "variables" | "approval") =>
          ({
            write: "request",
            thread_id,
            run: 1,
            request: aRequest({ id: `${kind} of ${thread_id}`, kind }),
          }) as const;
        const begun = { write: "effect_change", thread_id: "grandchild", id: "begun", from: ["pending"] } as const;
        await written(
          stores,
          "grandchild",
          effect("grandchild", "waiting"),
          effect("grandchild", "begun"),
          { ...begun, to: "processing" },
          effect("root", "of the parent"),
          request("grandchild", "variables"),
          request("grandchild", "approval"),
          request("root", "variables"),
        );
        await terminate("child");
        const cancelled = { status: "user_canceled", completed_at: expect.any(Number) };
        expect(await stores.state.effect("grandchild", "waiting")).toMatchObject(cancelled);
        expect(await stores.state.effect("grandchild", "begun")).toMatchObject({
          status: "failed",
          error: "The thread was terminated.",
        });
        expect(await stores.state.effect("root", "of the parent")).toMatchObject({ status: "pending" });
        const requests = async (id: string) => (await stores.requests.get(id))?.status;
        expect(await requests("variables of grandchild")).toBe("cancelled");
        expect(await requests("approval of grandchild")).toBe("pending");
        expect(await requests("variables of root")).toBe("pending");
      });

      describe("of a child that its parent waits for", () => {
        async function waitingParent(): Promise<Held> {
          const held = await heldThread(stores, { id: "waiting" });
          const settle = { wake_rev: held.wake_rev, due_after: null };
          const opened_requests = [aRequest({ id: "request", kind: "child" })];
          await stores.threads.commit(aCommit(held, { drained: [1], status: "waiting", opened_requests, settle }));
          await openChild(stores, held.id, { id: "awaited" }, { request_id: "request", blocking: true });
          return held;
        }

        it("answers it", async () => {
          const { id } = await waitingParent();
          const heard = await heardOn(driver);
          await terminate("awaited");
          const answer = JSON.stringify({ success: false, error: "The subagent was terminated." });
          expect(await stores.requests.get("request")).toMatchObject({ status: "answered", answer });
          const [entry] = await stores.inbox.waiting(id);
          expect(entry).toMatchObject({ seq: 2, kind: "answer", body: '{"request_id":"request"}' });
          expect(await statusOf(id)).toBe("waiting");
          expect(await heard.all()).toContain(id);
          expect((await claim(stores)).map((claimed) => claimed.id)).toContain(id);
        });

        it("leaves it alone when the child has answered before", async () => {
          const { id } = await waitingParent();
          await stores.requests.submit("request", { body: "answered", payload_hash: "hash", mac: "mac" });
          await terminate("awaited");
          expect(await stores.requests.get("request")).toMatchObject({ answer: "answered" });
          expect(await stores.inbox.waiting(id)).toHaveLength(1);
        });

        it("leaves it alone when it ends too", async () => {
          const { id } = await waitingParent();
          await terminate(id);
          expect(await stores.requests.get("request")).toMatchObject({ status: "pending", answer: null });
          expect((await stores.inbox.waiting(id)).map(({ kind }) => kind)).toEqual(["stop"]);
          expect(await statusOf("awaited")).toBe("terminated");
        });
      });

      it("reaches a child that is made at the same time, or there is none", async () => {
        const far = (await openSecond?.())?.stores ?? stores;
        for (let round = 0; round < 5; round++) {
          const held = await heldThread(stores);
          const thread = aChild(held.id);
          const writes = [
            { write: "thread", thread },
            { write: "entry", thread_id: thread.id, entry: anEntry() },
          ] as const;
          const [made] = await Promise.all([far.threads.commit(aCommit(held, { writes })), terminate(held.id)]);
          const child = await stores.threads.get(thread.id);
          expect(child?.status).toBe(made.outcome === "committed" ? "terminated" : undefined);
          const kinds = (await stores.inbox.waiting(thread.id)).map(({ kind }) => kind);
          expect(kinds).toEqual(made.outcome === "committed" ? ["message", "stop"] : []);
        }
      });

      it("is one when a parent and its child are ended at the same time", async () => {
        const far = (await openSecond?.())?.stores ?? stores;
        await Promise.all([
          ...["root", "child", "grandchild"].map((id) => far.threads.terminate(id, aStop())),
          ...["grandchild", "sibling", "root"].map(terminate),
        ]);
        for (const id of ["root", "child", "grandchild", "sibling"]) {
          expect(await statusOf(id)).toBe("terminated");
          expect(await stores.inbox.waiting(id)).toMatchObject([{ seq: 1, kind: "stop" }]);
        }
      });

      it("with a child's own last commit is told to its parent with it", async () => {
        const held = await heldThread(stores, { id: "worker", parent_id: "root", child: aLink() });
        const settle = { wake_rev: held.wake_rev, due_after: null };
        const entry = { write: "entry", thread_id: "root", entry: anEntry({ id: "result" }) } as const;
        const end = { write: "terminate", thread_id: held.id, stop: aStop() } as const;
        const last = aCommit(held, { drained: [1], writes: [entry, end], settle });
        expect(await stores.threads.commit(last)).toMatchObject({ outcome: "committed" });
        expect(await stores.threads.get("worker")).toMatchObject({ status: "terminated", child_status: "terminated" });
        expect(await stores.inbox.waiting("root")).toMatchObject([{ id: "result" }]);
        expect(await nextDue(stores)).toBe(0);
      });
    },
  );
}
