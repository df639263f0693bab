import { describe, expect, it, vi } from "vitest";
import { createHooks } from "./hooks.ts";
import { contractNames } from "./seams.ts";

describe("hooks.emit", () => {
  it("tells every listener what happened, in the order in which they came", () => {
    const hooks = createHooks();
    const heard: unknown[] = [];
    hooks.on("loopEvent", (...told) => heard.push(["first", ...told]));
    hooks.on("loopEvent", (...told) => heard.push(["second", ...told]));
    hooks.emit("loopEvent", "turn_started", { turn: 1 });
    expect(heard).toEqual([
      ["first", "turn_started", { turn: 1 }],
      ["second", "turn_started", { turn: 1 }],
    ]);
  });

  it("goes on to the next listener when one throws or rejects", async () => {
    const hooks = createHooks();
    const heard = vi.fn();
    hooks.on("loopEvent", () => expect.fail("thrown"));
    hooks.on("loopEvent", () => Promise.reject(new Error("rejected")));
    hooks.on("loopEvent", heard);
    hooks.emit("loopEvent", "completed", {});
    await Promise.resolve();
    expect(heard).toHaveBeenCalledTimes(1);
  });

  it("tells everybody who listened when it began, though one stops and one starts meanwhile", () => {
    const hooks = createHooks();
    const heard: string[] = [];
    const stop = hooks.on("loopEvent", () => {
      heard.push("first");
      stop();
      stopSecond();
      hooks.on("loopEvent", () => heard.push("third"));
    });
    const stopSecond = hooks.on("loopEvent", () => heard.push("second"));
    hooks.emit("loopEvent", "one", {});
    expect(heard).toEqual(["first", "second"]);
    hooks.emit("loopEvent", "two", {});
    expect(heard).toEqual(["first", "second", "third"]);
  });
});

describe("hooks.apply", () => {
  const apply = (hooks: ReturnType<typeof createHooks>) =>
    hooks.apply("preToolCallDecision", { action: "proceed" }, {});

  it("hands each filter what the one before it made, now or later", async () => {
    const hooks = createHooks();
    hooks.filter("preToolCallDecision", (decision) => ({ ...decision, first: true }));
    hooks.filter("preToolCallDecision", async (decision) => ({ ...decision, second: decision.first }));
    expect(await apply(hooks)).toEqual({ action: "proceed", first: true, second: true });
  });

  it("tells a filter what the value is about", async () => {
    const hooks = createHooks();
    const filter = vi.fn((value: object, ..._about: unknown[]) => value);
    hooks.filter("toolAuditParameters", filter);
    await hooks.apply("toolAuditParameters", { shown: 1 }, { raw: 1 }, "ability/save", null, { turn: 1 });
    expect(filter).toHaveBeenCalledWith({ shown: 1 }, { raw: 1 }, "ability/save", null, { turn: 1 });
  });

  it.each([undefined, null, 7, "text", [], true])("keeps the value when a filter answers %j", async (answer) => {
    const hooks = createHooks();
    hooks.filter("preToolCallDecision", () => answer);
    hooks.filter("preToolCallDecision", async () => answer);
    expect(await apply(hooks)).toEqual({ action: "proceed" });
  });

  it("keeps the value when a filter throws or rejects, and asks the next", async () => {
    const hooks = createHooks();
    hooks.filter("preToolCallDecision", () => expect.fail("thrown"));
    hooks.filter("preToolCallDecision", () => Promise.reject(new Error("rejected")));
    hooks.filter("preToolCallDecision", (decision) => ({ ...decision, last: true }));
    expect(await apply(hooks)).toEqual({ action: "proceed", last: true });
  });

  it("returns the value itself when nobody filters it", async () => {
    const value = { action: "proceed" };
    expect(await createHooks().apply("preToolCallDecision", value, {})).toBe(value);
  });
});

describe("hooks.has", () => {
  it("is true while somebody is there, and the way out can be taken twice", () => {
    const hooks = createHooks();
    expect(hooks.has("loopEvent")).toBe(false);
    const stop = hooks.on("loopEvent", () => undefined);
    const stopOther = hooks.on("loopEvent", () => undefined);
    stop();
    stop();
    expect(hooks.has("loopEvent")).toBe(true);
    stopOther();
    expect(hooks.has("loopEvent")).toBe(false);
  });

  it("keeps events and filters of different names apart", () => {
    const hooks = createHooks();
    hooks.filter("toolAuditParameters", (value) => value);
    expect(hooks.has("toolAuditParameters")).toBe(true);
    expect(hooks.has("preToolCallDecision")).toBe(false);
  });
});

describe("contractNames", () => {
  it("gives every seam a name of its own", () => {
    const names = Object.values(contractNames);
    expect(new Set(names).size).toBe(names.length);
  });
});

it("keeps two registrations of one function apart", () => {
  const hooks = createHooks();
  let heard = 0;
  const listener = () => heard++;
  const first = hooks.on("loopEvent", listener);
  hooks.on("loopEvent", listener);
  first();
  first();
  hooks.emit("loopEvent", "turn_started", {});
  expect(heard).toBe(1);
});
