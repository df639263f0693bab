// What every request store promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, anEntry, aRequest, MINUTE } from "./contract/a-commit.ts";
import { claim, everything, heardOn, heldThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { Held } from "./engine.ts";
import type { NewRequest, RequestStore } from "./request-store.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { ThreadStatus } from "./thread-rows.ts";

export function describeRequestStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`request store on ${name}`, () => {
    let stores: Stores;
    let requests: RequestStore;
    let driver: SqlDriver;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      ({ requests } = stores);
    });

    /** A thread that was laid down to wait for an answer. */
    async function waitingThread(
      parts: Partial<NewRequest>,
      status: ThreadStatus = "waiting",
      thread: Parameters<typeof heldThread>[1] = {},
    ): Promise<Held> {
      const held = await heldThread(stores, thread);
      const settle = { wake_rev: held.wake_rev, due_after: null };
      const opened_requests = [aRequest(parts)];
      await stores.threads.commit(aCommit(held, { run: 2, drained: [1], status, opened_requests, settle }));
      return held;
    }

    const yes = { body: '{"decision":"accepted"}', payload_hash: "hash of yes", mac: "mac of yes" };
    const no = { body: '{"decision":"rejected"}', payload_hash: "hash of no", mac: "mac of no" };

    describe("a request", () => {
      it("is read as it was opened", async () => {
        const { id: thread_id } = await waitingThread({ id: "refund", call: 4, expires_after: MINUTE });
        const request = await requests.get("refund");
        expect(request).toEqual({
          id: "refund",
          thread_id,
          run: 2,
          call: 4,
          kind: "approval",
          tool_name: "shop/refund",
          status: "pending",
          shown: '{"order":7}',
          sealed: "sealed request",
          binding: "binding",
          answer: null,
          payload_hash: null,
          answer_mac: null,
          resolver: null,
          decided_by: null,
          terms: {
            ...{ agent: "", creator: null, workspace_type: null, workspace_id: null },
            ...{ policy_version: "", approvers: null },
          },
          created_at: expect.any(Number),
          expires_at: expect.any(Number),
          ended_at: null,
        });
        expect((request?.expires_at ?? 0) - (request?.created_at ?? 0)).toBeGreaterThanOrEqual(MINUTE);
      });

      it("without a time limit has none", async () => {
        await waitingThread({ id: "refund", kind: "client_tool" });
        expect(await requests.get("refund")).toMatchObject({ kind: "client_tool", expires_at: null });
      });

      it("that was never opened is not found", async () => {
        expect(await requests.get("nothing")).toBeUndefined();
        expect(await requests.list({})).toEqual([]);
      });
    });

    describe("the list", () => {
      const ids = async (query: Parameters<RequestStore["list"]>[0]) =>
        (await requests.list(query)).map(({ id }) => id);

      it("is in the order of creation, page by page", async () => {
        for (const id of ["zebra", "ant", "Bee", "fly"]) await waitingThread({ id });
        expect(await ids({})).toEqual(["zebra", "ant", "Bee", "fly"]);
        expect(await ids({ limit: 2 })).toEqual(["zebra", "ant"]);
        expect(await ids({ limit: 2, after: "ant" })).toEqual(["Bee", "fly"]);
        expect(await ids({ after: "fly" })).toEqual([]);
      });

      it("may be of one thread, of one status or of both", async () => {
        const first = await waitingThread({ id: "one" });
        await waitingThread({ id: "two" });
        await waitingThread({ id: "three" });
        await requests.submit("two", yes);
        expect(await ids({ thread_id: first.id })).toEqual(["one"]);
        expect(await ids({ status: "pending" })).toEqual(["one", "three"]);
        expect(await ids({ status: "answered" })).toEqual(["two"]);
        expect(await ids({ thread_id: first.id, status: "answered" })).toEqual([]);
        expect(await ids({ status: "pending", after: "one", limit: 5 })).toEqual(["three"]);
      });

      it("may be of what one owner's threads wait for, or of what a rule says who decides", async () => {
        const subject = {
          ...{ principal: "{}", workspace_type: null, workspace_id: null, context: "chat", consent: "{}" },
          ...{ owner_type: "user", owner_key: "7" },
        };
        const terms = {
          ...{ agent: "support", creator: null, workspace_type: null, workspace_id: null },
          ...{ policy_version: "1", approvers: '{"users":[12]}' },
        };
        await waitingThread({ id: "nobody's" });
        await waitingThread({ id: "seven's" }, "waiting", { subject });
        await waitingThread({ id: "eight's", terms }, "waiting", { subject: { ...subject, owner_key: "8" } });
        expect(await ids({ owner: { type: "user", key: "7" } })).toEqual(["seven's"]);
        expect(await ids({ owner: { type: "token", key: "7" } })).toEqual([]);
        expect(await ids({ owner: { type: "user", key: "8" }, after: "seven's" })).toEqual(["eight's"]);
        expect(await ids({ ruled: true, status: "pending" })).toEqual(["eight's"]);
        expect(await ids({ ruled: false })).toHaveLength(3);
      });

      it("may be of what rules may call one user to decide, whom they cannot call left out", async () => {
        const subject = {
          ...{ principal: '{"workspace_id":"1"}', workspace_type: null, workspace_id: null },
          ...{ context: "chat", consent: "{}", owner_type: "user", owner_key: "7" },
        };
        const rules = {
          alone: { users: [12] },
          first: { users: [12, 3] },
          between: { capability: '"users":[', users: [1, 12, 3] },
          last: { users: [1, 12] },
          others: { users: [1, 2, 112, 120] },
          capable: { capability: "refunds.approve", other_than_requester: true },
          odd: { capability: '"users":[' },
          roled: { role: "admin" },
          second: { other_than_requester: true },
        };
        const terms = {
          agent: "support",
          creator: null,
          workspace_type: null,
          workspace_id: null,
          policy_version: "1",
        };
        for (const [id, rule] of Object.entries(rules)) {
          const thread = id === "roled" ? { subject } : {};
          await waitingThread({ id, terms: { ...terms, approvers: JSON.stringify(rule) } }, "waiting", thread);
        }
        await waitingThread({ id: "unruled", terms: { ...terms, approvers: null } });
        const called = ["alone", "first", "between", "last", "capable", "odd", "roled"];
        expect(await ids({ calls: 12, status: "pending" })).toEqual(called);
        expect(await ids({ calls: 0 })).toEqual(["capable", "odd", "roled"]);
        expect(await ids({ calls: 12, workspace: "1" })).toEqual(["roled"]);
        expect(await ids({ workspace: "2" })).toEqual([]);
      });
    });

    describe("an answer", () => {
      it("is kept, put into the thread's inbox, and makes the thread due", async () => {
        const { id } = await waitingThread({ id: "refund" });
        expect(await claim(stores)).toEqual([]);
        const heard = await heardOn(driver);
        expect(await requests.submit("refund", yes)).toBe("submitted");
        expect(await requests.get("refund")).toMatchObject({
          status: "answered",
          answer: yes.body,
          payload_hash: yes.payload_hash,
          answer_mac: yes.mac,
          sealed: "sealed request",
          ended_at: expect.any(Number),
        });
        const [entry, ...more] = await stores.inbox.waiting(id);
        expect(more).toEqual([]);
        expect(entry).toMatchObject({ seq: 2, kind: "answer" });
        expect(JSON.parse(entry?.body ?? "")).toEqual({ request_id: "refund" });
        expect(await heard.all()).toEqual([id]);
        expect(await claim(stores)).toMatchObject([{ id }]);
      });

      it("counts once of twenty that come at the same time", async () => {
        const { id } = await waitingThread({ id: "refund" });
        const answers = Array.from({ length: 20 }, (_, index) => ({
          body: `{"result":${index}}`,
          payload_hash: `hash of ${index}`,
          mac: `mac of ${index}`,
        }));
        const outcomes = await Promise.all(answers.map((answer) => requests.submit("refund", answer)));
        expect(outcomes.filter((outcome) => outcome === "submitted")).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === "refused")).toHaveLength(19);
        const winner = answers[outcomes.indexOf("submitted")];
        expect(await requests.get("refund")).toMatchObject({
          answer: winner?.body,
          payload_hash: winner?.payload_hash,
        });
        expect(await stores.inbox.waiting(id)).toHaveLength(1);
        expect(await stores.threads.load(id)).toMatchObject({ wake_rev: 2 });
      });

      it("is refused when there is one, and changes nothing", async () => {
        await waitingThread({ id: "refund" });
        await requests.submit("refund", yes);
        const before = await everything(driver);
        expect(await requests.submit("refund", no)).toBe("refused");
        expect(await requests.submit("refund", yes)).toBe("refused");
        expect(await everything(driver)).toEqual(before);
      });

      it("is refused when the time is up, also before anybody has noticed", async () => {
        await waitingThread({ id: "refund", expires_after: 0 });
        const before = await everything(driver);
        expect(await requests.submit("refund", yes)).toBe("refused");
        expect(await everything(driver)).toEqual(before);
        expect(await requests.get("refund")).toMatchObject({ status: "pending" });
      });

      it("is refused when nobody waits for it any more", async () => {
        const held = await heldThread(stores);
        await stores.threads.commit(aCommit(held, { opened_requests: [aRequest({ id: "refund" })] }));
        const closed_requests = [{ id: "refund", from: "pending", to: "cancelled" }] as const;
        await stores.threads.commit(aCommit(held, { seq: 1, closed_requests }));
        expect(await requests.submit("refund", yes)).toBe("refused");
        expect(await requests.get("refund")).toMatchObject({ status: "cancelled", sealed: null, answer: null });
        expect(await requests.submit("nothing", yes)).toBe("refused");
      });

      it("is refused by a thread that was terminated", async () => {
        const { id } = await waitingThread({ id: "refund" });
        await stores.threads.terminate(id, anEntry({ kind: "stop" }));
        const before = await everything(driver);
        expect(await requests.submit("refund", yes)).toBe("refused");
        expect(await everything(driver)).toEqual(before);
      });

      it("reaches a thread that is stopped too", async () => {
        const { id } = await waitingThread({ id: "refund" }, "stopped");
        await requests.submit("refund", yes);
        expect(await claim(stores)).toMatchObject([{ id }]);
      });

      it("is not signalled to whoever works on the thread", async () => {
        const held = await heldThread(stores);
        await stores.threads.commit(aCommit(held, { opened_requests: [aRequest({ id: "refund" })] }));
        const heard = await heardOn(driver);
        expect(await requests.submit("refund", yes)).toBe("submitted");
        expect(await heard.all()).toEqual([]);
      });
    });

    it("tells the database's time", async () => {
      const before = await requests.now();
      await waitingThread({ id: "refund" });
      const { created_at = 0 } = (await requests.get("refund")) ?? {};
      expect(created_at).toBeGreaterThanOrEqual(before);
      expect(await requests.now()).toBeGreaterThanOrEqual(created_at);
    });
  });
}
