import { describe, expect, it, onTestFinished } from "vitest";
import type { LiveText, LiveTextStore } from "../../backend/live-text.ts";
import { openStores } from "../../backend/sql/open-stores.ts";
import { sqlite } from "../../backend/sqlite/sqlite.ts";
import { createLiveAnswer } from "./live-answer.ts";
import { createLiveTexts } from "./live-texts.ts";

/** Texts of a process that shares its database, and what it has asked of it. */
async function newTexts({ everyMs = 1, ...changed }: Partial<LiveTextStore> & { everyMs?: number } = {}) {
  const driver = await sqlite(":memory:").open();
  const { liveText } = await openStores(driver, { keyFingerprint: "" });
  const asked: string[] = [];
  const store: LiveTextStore = {
    async put(text) {
      asked.push(`put ${text.segments.length}`);
      await changed.put?.(text);
      await liveText.put(text);
    },
    async get(ids) {
      const found = await liveText.get(ids);
      await changed.get?.(ids);
      return found;
    },
    async clear(id) {
      await liveText.clear(id);
      asked.push("clear");
    },
  };
  const texts = createLiveTexts(store, { isShared: true, everyMs });
  onTestFinished(async () => {
    texts.close();
    await driver.close();
  });
  return {
    texts,
    asked,
    stored: () => liveText.get(["one"]),
    /** As another process would. */
    write: (text: LiveText) => liveText.put(text),
    elsewhere: createLiveTexts(liveText, { isShared: true }),
  };
}

function newAnswer(attempt = 1) {
  const live = createLiveAnswer({ thread_id: "one", step: 0, attempt, commit: attempt }, {});
  const say = (text: string) => live.add({ type: "text", text });
  return { live, say, text: live.text };
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise(setImmediate);
}

describe("what models are saying", () => {
  it("is newer than what was looked up meanwhile, also when it has ended by then", async () => {
    const held = Promise.withResolvers<void>();
    const looked = Promise.withResolvers<void>();
    const get = async () => {
      looked.resolve();
      await held.promise;
      return [];
    };
    const { texts, write } = await newTexts({ everyMs: 60_000, get });
    const old = newAnswer(1);
    old.say("An attempt that was given up.");
    await write(old.text);
    const told: number[] = [];
    texts.listen("one", ({ attempt }) => told.push(attempt));
    const looking = texts.look("one");
    await looked.promise;
    const answer = newAnswer(2);
    answer.say("Yes.");
    texts.say(answer.text);
    texts.end("one");
    held.resolve();
    await looking;
    expect(told).toEqual([2]);
  });

  it("is written down a few times a second, and not at all when the answer was there sooner", async () => {
    const { texts, asked, stored } = await newTexts({ everyMs: 20 });
    const first = newAnswer();
    for (let pieces = 0; pieces < 1_000; pieces++) {
      first.say("word ");
      texts.say(first.text);
    }
    texts.end("one");
    const second = newAnswer(2);
    second.say("Once");
    texts.say(second.text);
    second.say(" upon");
    texts.say(second.text);
    await until(() => asked.length > 0);
    expect(asked).toEqual(["put 2"]);
    await until(async () => (await stored()).length > 0);
    expect(await stored()).toMatchObject([{ attempt: 2, segments: [{ type: "text", text: "Once upon" }] }]);
    texts.end("one");
    await until(() => asked.length > 1);
    expect(await stored()).toEqual([]);
  });

  it("does not come back when it is over before it was written down", async () => {
    const writing = Promise.withResolvers<void>();
    const { texts, asked, stored } = await newTexts({ put: () => writing.promise });
    const { say, text } = newAnswer();
    say("Once");
    texts.say(text);
    await until(() => asked.length > 0);
    texts.end("one");
    writing.resolve();
    await until(() => asked.includes("clear"));
    expect(asked).toEqual(["put 1", "clear"]);
    expect(await stored()).toEqual([]);
  });

  it("is heard by readers here at once and by readers elsewhere when they look", async () => {
    const { texts, elsewhere, stored } = await newTexts();
    onTestFinished(() => elsewhere.close());
    const heard: LiveText[] = [];
    const there: LiveText[] = [];
    const unlisten = texts.listen("one", (text) => heard.push(text));
    elsewhere.listen("one", (text) => there.push(text));
    const { say, text } = newAnswer();
    say("Once");
    texts.say(text);
    expect(heard).toEqual([text]);
    await until(async () => (await stored()).length > 0);
    await elsewhere.look("one");
    expect(there.at(-1)).toEqual(text);
    unlisten();
    texts.say(text);
    expect(heard).toHaveLength(1);
  });

  it("is not heard of any more from a model that was let go and talks on", async () => {
    const { texts } = await newTexts();
    const heard: LiveText[] = [];
    const { say, text } = newAnswer();
    say("Once");
    texts.say(text);
    texts.end("one");
    texts.listen("one", (said) => heard.push(said));
    say(" upon");
    texts.say(text);
    texts.listen("one", (said) => heard.push(said));
    expect(heard).toEqual([]);
  });

  it("goes on when it cannot be written down", async () => {
    let failures = 0;
    const { texts, stored } = await newTexts({
      put: async () => {
        if (failures++ < 3) throw new Error("The database is away.");
      },
    });
    const { say, text } = newAnswer();
    const talking = setInterval(() => {
      say("on and ");
      texts.say(text);
    }, 1);
    onTestFinished(() => clearInterval(talking));
    await until(async () => (await stored()).length > 0);
    expect(failures).toBeGreaterThan(3);
  });
});
