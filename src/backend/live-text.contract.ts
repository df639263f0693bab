// What every store of text in flight promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import type { LiveSegment, LiveText, LiveTextStore } from "./live-text.ts";

export function describeLiveText(name: string, open: () => Promise<StoresInTest>): void {
  describe(`text in flight on ${name}`, () => {
    let texts: LiveTextStore;
    let driver: StoresInTest["driver"];

    beforeEach(async () => {
      ({
        stores: { liveText: texts },
        driver,
      } = await open());
    });

    const says = (text: string): LiveSegment[] => [{ type: "text", text }];
    const said: LiveText = { thread_id: "one", step: 3, attempt: 2, commit: 7, segments: says("Once upon a") };

    it("is what was put last", async () => {
      await texts.put(said);
      expect(await texts.get(["one"])).toEqual([said]);
      const more = { ...said, step: 4, commit: 8, segments: says("Once upon a time 🦀") };
      await texts.put(more);
      expect(await texts.get(["one"])).toEqual([more]);
    });

    it("keeps the parts of an answer apart, and the pieces of a part together", async () => {
      const call = { type: "tool_input", id: "call-1", name: "shop/peek" } as const;
      const other = { ...call, id: "call-2" };
      await texts.put({
        ...said,
        segments: [
          { type: "reasoning", text: "Let me" },
          { type: "reasoning", text: " see." },
          ...[...says("I "), ...says("look.")],
          { ...call, text: '{"a":' },
          { ...call, text: "1}" },
          { ...other, text: "{}" },
          ...says(" There."),
        ],
      });
      const [found] = await texts.get(["one"]);
      expect(found?.segments).toEqual([
        { type: "reasoning", text: "Let me see." },
        { type: "text", text: "I look." },
        { ...call, text: '{"a":1}' },
        { ...other, text: "{}" },
        { type: "text", text: " There." },
      ]);
    });

    it("is every character that there is", async () => {
      const odd = { ...said, segments: says("\0 \ud83d \\ \" ' \u2028 🦀") };
      await texts.put(odd);
      expect(await texts.get(["one"])).toEqual([odd]);
    });

    it("of another version hides nobody else's", async () => {
      await texts.put(said);
      for (const [id, content] of [
        ["two", "Long ago"],
        ["three", "null"],
        ["four", "[]"],
      ] as const) {
        await texts.put({ ...said, thread_id: id });
        const sql = "update live_text set content = $2 where thread_id = $1";
        await driver.batch([{ sql, params: [id, content], expect: 1 }]);
      }
      expect(await texts.get(["one", "two", "three", "four"])).toEqual([said]);
    });

    it("belongs to its thread", async () => {
      await texts.put(said);
      await texts.put({ ...said, thread_id: "two", segments: says("Long ago") });
      const found = await texts.get(["one", "two", "three"]);
      expect(found.map(({ thread_id, segments }) => `${thread_id}: ${segments[0]?.text}`).sort()).toEqual([
        "one: Once upon a",
        "two: Long ago",
      ]);
      expect(await texts.get(["three"])).toEqual([]);
      expect(await texts.get([])).toEqual([]);
    });

    it("of an earlier attempt does not come back over a later one's", async () => {
      await texts.put(said);
      await texts.put({ ...said, attempt: 1, segments: says("from one that lost the thread") });
      expect(await texts.get(["one"])).toEqual([said]);
      const restarted = { ...said, attempt: 3, segments: [] };
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
