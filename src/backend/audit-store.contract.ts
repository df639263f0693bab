// What the store of the audit promises, and what erasing and deleting leave behind, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { UNEXPLAINED } from "../contracts/audit/checkpoint.ts";
import { ERASED_ENVELOPE, ERASURE_START } from "../contracts/audit/erasure.ts";
import type { AuditStore, NewCheckpoint, Vanished } from "./audit-store.ts";
import { aBegunCall, aCommit, aMessage, anEntry, aRequest } from "./contract/a-commit.ts";
import { openChild } from "./contract/a-write.ts";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import { everything, heldThread, openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { Stores } from "./stores.ts";

export function describeAuditStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`the audit store on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let audit: AuditStore;

    beforeEach(async () => {
      world = await open();
      ({ stores } = world);
      ({ audit } = stores);
    });

    /** A checkpoint over all that has changed. */
    async function nextCheckpoint(parts: Partial<NewCheckpoint> = {}): Promise<NewCheckpoint> {
      const number = ((await audit.lastCheckpoint())?.number ?? 0) + 1;
      const goneAs = ({ head, tombstone }: Vanished) =>
        tombstone ?? { ...head, reason: UNEXPLAINED, deleted_at: null, signature: null };
      const changed = { heads: await audit.changedHeads(), gone: (await audit.newlyGone()).map(goneAs) };
      return { number, statement: `statement ${number}`, signature: "signature", at: number, ...changed, ...parts };
    }

    const threadIds = (heads: readonly { readonly thread: string }[]) => heads.map(({ thread }) => thread);

    it("tells the heads of threads that no checkpoint has, in order, and later those that have changed", async () => {
      for (const id of ["b", "a", "c"]) await openThread(stores, { id });
      expect(await audit.changedHeads()).toEqual(
        ["a", "b", "c"].map((thread) => ({ thread, seq: -1, hash: "first hash" })),
      );
      expect(await audit.addCheckpoint(await nextCheckpoint())).toBe("added");
      expect(await audit.changedHeads()).toEqual([]);

      const held = await heldThread(stores, { id: "d" });
      await stores.threads.commit(aCommit(held, { event: { hash: "hash 0" } }));
      await world.driver.batch([{ sql: "update threads set last_hash = 'other' where id = 'b'", params: [] }]);
      expect(await audit.changedHeads()).toEqual([
        { thread: "b", seq: -1, hash: "other" },
        { thread: "d", seq: 0, hash: "hash 0" },
      ]);
    });

    it("keeps checkpoints with their heads", async () => {
      for (const id of ["a", "b"]) await openThread(stores, { id });
      await audit.addCheckpoint(await nextCheckpoint());
      await openThread(stores, { id: "c" });
      await audit.addCheckpoint(await nextCheckpoint());
      expect(await audit.checkpoints()).toEqual([
        { number: 1, statement: "statement 1", signature: "signature", at: 1 },
        { number: 2, statement: "statement 2", signature: "signature", at: 2 },
      ]);
      expect(await audit.checkpoints({ limit: 1 })).toMatchObject([{ number: 1 }]);
      expect(await audit.checkpoints({ offset: 1, limit: 5 })).toMatchObject([{ number: 2 }]);
      expect(await audit.lastCheckpoint()).toMatchObject({ number: 2 });
      const head = (thread: string) => ({ thread, seq: -1, hash: "first hash" });
      const first = [
        { ...head("a"), checkpoint: 1, leaf: 0 },
        { ...head("b"), checkpoint: 1, leaf: 1 },
      ];
      const second = { ...head("c"), checkpoint: 2, leaf: 0 };
      expect(await audit.heads()).toEqual([...first, second]);
    });

    it("gives a number to one checkpoint, and the others change nothing", async () => {
      await openThread(stores, { id: "a" });
      const made = await nextCheckpoint();
      const asked = Array.from({ length: 6 }, (_, index) => ({ ...made, statement: `of ${index}` }));
      const outcomes = await Promise.all(asked.map((each) => audit.addCheckpoint(each)));
      expect(outcomes.filter((outcome) => outcome === "added")).toHaveLength(1);
      const [kept] = await audit.checkpoints();
      expect(kept?.statement).toBe(`of ${outcomes.indexOf("added")}`);
      const before = await everything(world.driver);
      expect(await audit.addCheckpoint({ ...made, statement: "late" })).toBe("known");
      expect(await everything(world.driver)).toEqual(before);
    });

    it.each(losses)("adds a checkpoint once when it loses %s", async (loss) => {
      await openThread(stores, { id: "a" });
      const made = await nextCheckpoint();
      const driver = losingDriver(world.driver);
      const lossy = await world.storesOn(driver);
      driver.loseNext(loss);
      expect(await lossy.audit.addCheckpoint(made)).toBe("added");
      expect(await audit.checkpoints()).toHaveLength(1);
      expect(await audit.heads()).toHaveLength(1);
    });

    it("tells once which threads are gone, with what stayed of those that were deleted", async () => {
      for (const id of ["a", "b", "c"]) await openThread(stores, { id });
      await openChild(stores, "a", { id: "child of a" });
      await audit.addCheckpoint(await nextCheckpoint());
      await stores.threads.delete("a");
      await stores.threads.delete("b", "retention");
      await world.driver.batch([{ sql: "delete from threads where id = 'c'", params: [] }]);
      const gone = (thread: string, reason: string | null) => {
        const head = { thread, seq: -1, hash: "first hash" };
        const tombstone = { ...head, reason, deleted_at: expect.any(Number), signature: "" };
        return { head, tombstone: reason === null ? null : tombstone };
      };
      expect(await audit.newlyGone()).toEqual([
        ...[gone("a", "deleted"), gone("b", "retention"), gone("c", null), gone("child of a", "deleted")],
      ]);
      expect(threadIds(await audit.tombstones()).sort()).toEqual(["a", "b", "child of a"]);
      await audit.addCheckpoint(await nextCheckpoint());
      expect(await audit.newlyGone()).toEqual([]);
      // A thread that no checkpoint knows is not missed, but its tombstone is kept.
      await openThread(stores, { id: "d" });
      await stores.threads.delete("d");
      expect(await audit.newlyGone()).toEqual([]);
      expect(threadIds(await audit.tombstones())).toContain("d");
    });

    it("lists threads page by page", async () => {
      for (const id of ["a", "b", "c"]) await openThread(stores, { id, agent: `agent of ${id}` });
      const [first] = await audit.threads({ after: null, limit: 2 });
      expect(first).toEqual({
        ...{ thread: "a", seq: -1, hash: "first hash", agent: "agent of a", parent_id: null, next_message: 0 },
        ...{ kind: "thread", created_at: expect.any(Number) },
      });
      expect(await audit.thread("a")).toEqual(first);
      expect(threadIds(await audit.threads({ after: "b", limit: 2 }))).toEqual(["c"]);
      expect(await audit.thread("nobody")).toBeUndefined();
    });

    describe("when messages are erased", () => {
      /** Two calls with their notes and requests, then an edit of the first; nothing is under way. */
      async function history() {
        const held = await heldThread(stores, { id: "t" });
        await stores.inbox.put("t", anEntry({ id: "edit", kind: "edit", operation: "edit" }));
        const notes = { notes: '["note"]', salt: "salt", notes_hash: "hash of note" };
        const ended = (number: number) =>
          ({ change: "ended", number, phase: "settled", outcome: "success", message_seq: number }) as const;
        for (const seq of [0, 1]) {
          const commit = aCommit(held, {
            ...{ seq, messages: [aMessage(`secret ${seq}`)], event: { messages_from: seq, ...notes } },
            ...{
              calls: [aBegunCall(seq), ended(seq)],
              opened_requests: [aRequest({ id: `request ${seq}`, call: seq })],
            },
            run_change: { ...(seq === 0 && { key: "run" }), status: "completed", outcome: '{"said":1}', ended: true },
          });
          await stores.threads.commit(commit);
          const closed = { id: `request ${seq}`, from: "pending", to: "cancelled" } as const;
          if (seq === 1) continue;
          await world.driver.batch([
            {
              sql: `update requests set answer = '{"secret":1}', payload_hash = 'hash', status = $2, ended_at = 1 where id = $1`,
              params: [closed.id, closed.to],
            },
          ]);
        }
        const edit = aMessage("secret too", { kind: "edit", supersedes: 0 });
        await stores.threads.commit(
          aCommit(held, { seq: 2, messages: [edit], drained: [1, 2], event: { messages_from: 2, ...notes } }),
        );
        return held;
      }

      const erasureText = `${ERASURE_START},"signature":"signature"}`;
      const deletion = (supersedes: number, envelope = erasureText) =>
        aMessage("", { kind: "deletion", supersedes, envelope, salt: "salt of deletion" });

      it("content goes in every version, with notes, requests, outcomes and hashes of what was sent; the rest stays", async () => {
        const held = await history();
        const before = await stores.threads.messages("t", {});
        await stores.threads.commit(
          aCommit(held, {
            ...{ seq: 3, messages: [deletion(0), deletion(1, "{}")], event: { messages_from: 3 } },
            erasure: { outcomes: [{ run: 1, outcome: "{}" }], entries: [], runs: [], requests: ["request 0"] },
          }),
        );
        const after = await stores.threads.messages("t", {});
        const gone = { envelope: ERASED_ENVELOPE, salt: "" };
        expect(after.slice(0, 3)).toEqual([{ ...before[0], ...gone }, before[1], { ...before[2], ...gone }]);
        expect(after.slice(3)).toMatchObject([
          { envelope: erasureText, salt: "salt of deletion" },
          { envelope: "{}", salt: "salt of deletion" },
        ]);
        const erased = { notes: null, salt: null, notes_hash: "hash of note" };
        const kept = { notes: '["note"]', salt: "salt", notes_hash: "hash of note" };
        expect(await stores.threads.events("t", {})).toMatchObject([erased, kept, erased, { notes: null }]);
        expect(await stores.threads.runs("t")).toMatchObject([{ outcome: "{}" }]);
        expect(await stores.requests.get("request 0")).toMatchObject({ shown: "{}", answer: "{}", payload_hash: null });
        expect(await stores.requests.get("request 1")).toMatchObject({ shown: '{"order":7}' });
        const inbox = await world.driver.all("select id, payload_hash from inbox where thread_id = 't' order by seq");
        expect(inbox).toMatchObject([{ payload_hash: "hash of Hello" }, { id: "edit", payload_hash: "" }]);
      });

      it("all notes of the runs that are named go, and hashes of what is drained with the very commit", async () => {
        const held = await history();
        await stores.inbox.put("t", anEntry({ id: "late", kind: "settlement", operation: "settle" }));
        await stores.inbox.put("t", anEntry({ id: "sent", operation: "send", idempotency_key: "sent" }));
        await stores.inbox.put("t", anEntry({ id: "stop", kind: "stop", operation: "stop", idempotency_key: "stop" }));
        await stores.threads.commit(
          aCommit(held, {
            ...{ seq: 3, messages: [deletion(0)], drained: [3, 4, 5], event: { messages_from: 3 } },
            erasure: { outcomes: [], entries: ["sent"], runs: [1], requests: [] },
          }),
        );
        const events = await stores.threads.events("t", {});
        expect(events.filter(({ run }) => run === 1).every(({ notes, salt }) => notes === null && salt === null)).toBe(
          true,
        );
        const inbox = await world.driver.all("select id, payload_hash from inbox where thread_id = 't' and seq > 2");
        expect(inbox.map(({ payload_hash }) => payload_hash)).toEqual(["", "", ""]);
        expect(await audit.isErasedSince("t", 3)).toBe(true);
        expect(await audit.isErasedSince("t", 4)).toBe(false);
      });

      it("nothing goes in other threads, and nothing for a deletion alone", async () => {
        const held = await history();
        const other = await heldThread(stores, { id: "other" });
        await stores.threads.commit(aCommit(other, { messages: [aMessage("kept")] }));
        await stores.threads.commit(
          aCommit(held, { seq: 3, messages: [deletion(1, "{}")], event: { messages_from: 3 } }),
        );
        const both = [...(await stores.threads.messages("t", {})), ...(await stores.threads.messages("other", {}))];
        expect(both.filter(({ salt }) => salt === "")).toEqual([]);
        await stores.threads.commit(
          aCommit(held, {
            ...{ seq: 4, messages: [deletion(0)], event: { messages_from: 4 } },
            erasure: { outcomes: [], entries: [], runs: [], requests: [] },
          }),
        );
        expect(await stores.threads.messages("other", {})).toMatchObject([{ salt: "salt" }]);
        expect(await stores.threads.messages("t", { from: 1, limit: 1 })).toMatchObject([{ salt: "salt" }]);
      });

      it("a fork at an earlier event is made only with the deletions of all that was erased", async () => {
        const held = await history();
        await world.driver.batch([{ sql: "update events set settled = 1 where seq = 2", params: [] }]);
        await stores.threads.commit(
          aCommit(held, {
            ...{ seq: 3, messages: [deletion(0)], event: { messages_from: 3 } },
            erasure: { outcomes: [], entries: [], runs: [], requests: [] },
          }),
        );
        const fork = { id: "fork", key: "fork", from: "t", at: 2, hash: "hash of fork", records: "[]" };
        const before = await everything(world.driver);
        expect(await stores.threads.fork(fork)).toBe("overtaken");
        expect(await everything(world.driver)).toEqual(before);
        const erased = { from: 3, rows: 2, deletions: [deletion(0)] };
        expect(await stores.threads.fork({ ...fork, erased })).toBe("forked");
        expect(await stores.threads.messages("fork", {})).toMatchObject([
          ...[
            { seq: 0, salt: "" },
            { seq: 1, salt: "salt" },
            { seq: 2, salt: "", supersedes: 0 },
          ],
          { seq: 3, kind: "deletion", supersedes: 0, envelope: erasureText },
        ]);
        expect(await stores.threads.events("fork", {})).toMatchObject([{ messages_from: 0, messages_to: 4 }]);
        expect(await stores.threads.load("fork")).toMatchObject({ thread: { next_message: 4 } });
      });
    });
  });
}
