import { describe, expect, it } from "vitest";
import type { StoredCall } from "../backend/thread-rows.ts";
import { compareEndings, type ReadEnding } from "./compare-endings.ts";
import type { ReadThread } from "./read-threads.ts";

const unknown = [{ tool_name: "shop/charge", phase: "unknown" } as StoredCall];

/** A thread in which two messages were sent, or what else it has come to. */
function thread(changed: Partial<ReadThread> = {}): ReadThread {
  return { key: "a", status: "idle", said: ["one", "two"], unknown: [], problems: [], ...changed };
}

function ending(threads: readonly ReadThread[], effects: readonly string[] = ["charge"]): ReadEnding {
  return { threads, effects: effects.map((name) => ({ name, times: 1 })) };
}

const undisturbed = ending([thread()]);

function found(changed: ReadEnding, anyOrder = false): readonly string[] {
  return compareEndings(undisturbed, changed, { anyOrder });
}

describe("an ending like the undisturbed one", () => {
  it("is right", () => {
    expect(found(undisturbed)).toEqual([]);
  });

  it("tells what was found in its threads", () => {
    expect(found(ending([thread({ problems: ["2 calls have no result"] })]))).toEqual([
      'thread "a": 2 calls have no result',
    ]);
  });
});

describe("messages", () => {
  const words = (said: readonly string[]) =>
    `thread "a": the messages are [${said.map((each) => `"${each}"`).join(", ")}]`;

  it.each([
    { what: "lost", said: ["one"] },
    { what: "doubled", said: ["one", "two", "two"] },
    { what: "in another order", said: ["two", "one"] },
  ])("may not be $what", ({ said }) => {
    expect(found(ending([thread({ said })]))).toEqual([expect.stringContaining(words(said))]);
  });

  it("may change places where the scenario does not settle their order, and nothing else", () => {
    expect(found(ending([thread({ said: ["two", "one"] })]), true)).toEqual([]);
    expect(found(ending([thread({ said: ["two", "two"] })]), true)).toHaveLength(1);
  });

  it("may be missing beside a call of unknown outcome, which may have been about to leave them", () => {
    const told = (said: readonly string[]) => found(ending([thread({ said, unknown })]));
    expect(told(["one"])).toEqual([]);
    expect(told(["one", "one", "two"])).toHaveLength(1);
    expect(told(["two", "one"])).toHaveLength(1);
  });
});

describe("threads", () => {
  it("may not be missing, be added or stand elsewhere", () => {
    expect(found(ending([]))).toEqual(['thread "a" is missing']);
    expect(found(ending([thread(), thread({ key: "b" })]))).toEqual(['thread "b" is there, and undisturbed it is not']);
    expect(found(ending([thread({ status: "waiting" })]))).toEqual([
      'thread "a": it is waiting, and undisturbed it is idle',
    ]);
  });
});

describe("effects", () => {
  it("may not happen more often, also when a call is unknown", () => {
    const twice = '"charge" happened 2 times, and undisturbed once';
    expect(found(ending([thread()], ["charge", "charge"]))).toEqual([twice]);
    expect(found(ending([thread({ unknown })], ["charge", "charge"]))).toEqual([twice]);
    expect(found(ending([thread()], ["charge", "ship"]))).toEqual(['"ship" happened once, and undisturbed 0 times']);
  });

  it("may be missing only beside a call of unknown outcome", () => {
    expect(found(ending([thread()], []))).toEqual(['"charge" happened 0 times instead of once, in silence']);
    expect(found(ending([thread({ unknown })], []))).toEqual([]);
  });
});
