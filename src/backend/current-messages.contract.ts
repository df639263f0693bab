// What every thread store promises of messages as they stand now, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, aMessage } from "./contract/a-commit.ts";
import { heldThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { Stores } from "./stores.ts";
import type { NewMessage } from "./thread-rows.ts";

const ALL = { after: -1, limit: 1_000 };

export function describeCurrentMessages(name: string, open: () => Promise<StoresInTest>): void {
  describe(`current messages on ${name}`, () => {
    let stores: Stores;

    beforeEach(async () => {
      ({ stores } = await open());
    });

    async function threadWith(...messages: readonly NewMessage[]): Promise<string> {
      const held = await heldThread(stores);
      await stores.threads.commit(aCommit(held, { run: 2, steps: 3, messages }));
      return held.id;
    }

    async function said(id: string, page = ALL): Promise<readonly (readonly [number, string])[]> {
      const found = await stores.threads.currentMessages(id, page);
      return found.map(({ seq, envelope }) => [seq, JSON.parse(envelope).text] as const);
    }

    it("come under the numbers that they were added with, with the run and step of then", async () => {
      const id = await threadWith(aMessage("one"), aMessage("two"));
      expect(await stores.threads.currentMessages(id, ALL)).toEqual([
        { seq: 0, run: 2, step: 3, envelope: aMessage("one").envelope },
        { seq: 1, run: 2, step: 3, envelope: aMessage("two").envelope },
      ]);
    });

    it("are shown in the last version that there is", async () => {
      const edit = (text: string) => aMessage(text, { kind: "edit", supersedes: 0 });
      const id = await threadWith(aMessage("one"), edit("better"), aMessage("two"), edit("best"));
      expect(await said(id)).toEqual([
        [0, "best"],
        [2, "two"],
      ]);
      // Whatever supersedes a message of the page may stand far behind it.
      expect(await said(id, { after: -1, limit: 1 })).toEqual([[0, "best"]]);
    });

    it("are left out once they are deleted, edited before or not, and a page is full all the same", async () => {
      const deletion = (supersedes: number) => aMessage("", { kind: "deletion", supersedes });
      const edit = aMessage("two, better", { kind: "edit", supersedes: 1 });
      const id = await threadWith(
        ...[aMessage("one"), aMessage("two"), aMessage("three"), aMessage("four")],
        ...[edit, deletion(1), deletion(0)],
      );
      expect(await said(id, { after: -1, limit: 2 })).toEqual([
        [2, "three"],
        [3, "four"],
      ]);
    });

    it("are only what was said on the thread itself", async () => {
      const id = await threadWith(
        aMessage("said"),
        aMessage("within a call", { depth: 1, parent_seq: 0 }),
        aMessage("a summary", { kind: "summary" }),
        aMessage("a notice", { kind: "notice" }),
        aMessage("and said"),
      );
      expect(await said(id)).toEqual([
        [0, "said"],
        [4, "and said"],
      ]);
    });

    it("come page by page after a number, and of their own thread alone", async () => {
      const id = await threadWith(...["one", "two", "three", "four", "five"].map((text) => aMessage(text)));
      const other = await threadWith(aMessage("elsewhere"), aMessage("changed", { kind: "edit", supersedes: 0 }));
      expect(await said(id, { after: 0, limit: 2 })).toEqual([
        [1, "two"],
        [2, "three"],
      ]);
      expect(await said(id, { after: 3, limit: 2 })).toEqual([[4, "five"]]);
      expect(await said(id, { after: 4, limit: 2 })).toEqual([]);
      expect(await said(id, { after: -1, limit: 0 })).toEqual([]);
      expect(await said(other)).toEqual([[0, "changed"]]);
      expect(await said(id, { after: -1, limit: 1 })).toEqual([[0, "one"]]);
      expect(await said("nobody")).toEqual([]);
    });

    it("come from the other end too, the newest first, and the same ones", async () => {
      const id = await threadWith(
        ...[aMessage("one"), aMessage("two"), aMessage("a notice", { kind: "notice" }), aMessage("three")],
        ...[
          aMessage("two, better", { kind: "edit", supersedes: 1 }),
          aMessage("", { kind: "deletion", supersedes: 3 }),
        ],
      );
      const last = async (before: number | null, limit: number) =>
        (await stores.threads.lastMessages(id, { before, limit })).map(({ seq, run, envelope }) => [
          seq,
          run,
          JSON.parse(envelope).text,
        ]);
      expect(await last(null, 10)).toEqual([
        [1, 2, "two, better"],
        [0, 2, "one"],
      ]);
      expect(await last(null, 1)).toEqual([[1, 2, "two, better"]]);
      expect(await last(1, 10)).toEqual([[0, 2, "one"]]);
      expect(await last(0, 10)).toEqual([]);
    });

    it("are known to be deleted, and by nothing else than a deletion", async () => {
      const id = await threadWith(
        ...[aMessage("one"), aMessage("two"), aMessage("two, better", { kind: "edit", supersedes: 1 })],
        aMessage("", { kind: "deletion", supersedes: 0 }),
      );
      const isDeleted = (seq: number) => stores.threads.isDeleted(id, seq);
      expect(await Promise.all([isDeleted(0), isDeleted(1), isDeleted(9)])).toEqual([true, false, false]);
      expect(await stores.threads.isDeleted("nobody", 0)).toBe(false);
    });
  });
}
