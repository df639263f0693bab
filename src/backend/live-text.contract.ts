// What every store of text in flight promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import type { LiveTextStore } from "./live-text.ts";

export function describeLiveText(name: string, open: () => Promise<StoresInTest>): void {
  describe(`text in flight on ${name}`, () => {
    let texts: LiveTextStore;

    beforeEach(async () => {
      ({
        stores: { liveText: texts },
      } = await open());
    });

    const said = { thread_id: "one", step: 3, attempt: 2, content: "Once upon a" };

    it("is what was put last", async () => {
      await texts.put(said);
      expect(await texts.get(["one"])).toEqual([said]);
      const more = { ...said, step: 4, content: "Once upon a time 🦀" };
      await texts.put(more);
      expect(await texts.get(["one"])).toEqual([more]);
    });

    it("belongs to its thread", async () => {
      await texts.put(said);
      await texts.put({ ...said, thread_id: "two", content: "Long ago" });
      const found = await texts.get(["one", "two", "three"]);
      expect(found.map(({ thread_id, content }) => `${thread_id}: ${content}`).sort()).toEqual([
        "one: Once upon a",
        "two: Long ago",
      ]);
      expect(await texts.get(["three"])).toEqual([]);
      expect(await texts.get([])).toEqual([]);
    });

    it("of an earlier attempt does not come back over a later one's", async () => {
      await texts.put(said);
      await texts.put({ ...said, attempt: 1, content: "from one that lost the thread" });
      expect(await texts.get(["one"])).toEqual([said]);
      const restarted = { ...said, attempt: 3, content: "" };
      await texts.put(restarted);
      expect(await texts.get(["one"])).toEqual([restarted]);
    });

    it("is gone once it is cleared, and may begin again", async () => {
      await texts.put(said);
      await texts.clear("one");
      await texts.clear("one");
      expect(await texts.get(["one"])).toEqual([]);
      await texts.put({ ...said, attempt: 1 });
      expect(await texts.get(["one"])).toEqual([{ ...said, attempt: 1 }]);
    });
  });
}
