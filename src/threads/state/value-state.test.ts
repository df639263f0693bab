import { beforeEach, describe, expect, it } from "vitest";
import { commit, directScope, hostInTest, keptScope, openThread } from "../../../test/thread-states.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import type { Json } from "../../contracts/json.ts";
import type { Host } from "../host.ts";
import { valueState } from "./value-state.ts";

let host: Host;
let thread: Thread;

beforeEach(async () => {
  host = await hostInTest();
  thread = await openThread(host, { userId: "ada" });
});

describe.each([
  ["stored at once", () => valueState(host, directScope(host, thread))],
  ["kept for a commit", () => valueState(host, keptScope(host, thread))],
] as const)("values that are %s", (_, open) => {
  it("are read as they were set last", async () => {
    const values = open();
    expect(await values.getValue("plan")).toBeUndefined();
    await values.setValue("plan", { steps: [1, null, "x"] });
    expect(await values.getValue("plan")).toEqual({ steps: [1, null, "x"] });
    await values.setValue("plan", false);
    expect(await values.getValue("plan")).toBe(false);
  });

  it.each([null, undefined])("are gone once they are set to %s", async (nothing) => {
    const values = open();
    await values.setValue("plan", 1);
    await values.setValue("plan", nothing);
    expect(await values.getValue("plan")).toBeUndefined();
  });

  it("of a user are listed together", async () => {
    const values = open();
    await values.setUserValue("b", 2);
    await values.setUserValue("a", [1]);
    await values.setUserValue("c", 3);
    await values.setUserValue("c", undefined);
    expect(await values.listUserValues()).toEqual({ a: [1], b: 2 });
    expect(await values.getUserValue("b")).toBe(2);
  });

  it.each([
    ["a function", () => 1],
    ["a bigint", 1n],
    ["a symbol", Symbol("x")],
    ["a number that is none", { deep: [Number.NaN] }],
    ["a map", new Map()],
    ["bytes", new Uint8Array(1)],
    ["what contains itself", cycle()],
    ["what is nested too deep", JSON.parse("[".repeat(2_000) + "]".repeat(2_000))],
  ])("are never %s", async (_kind, value) => {
    const values = open();
    await expect(values.setValue("plan", value as Json)).rejects.toThrow(/^not_json: /);
    expect(await values.getValue("plan")).toBeUndefined();
  });

  it.each(["", "  ", "a\0b"])("have a key, and not %j", async (key) => {
    await expect(open().setValue(key, 1)).rejects.toThrow(/^invalid_argument: /);
    await expect(open().setUserValue(key, 1)).rejects.toThrow(/^invalid_argument: /);
  });
});

it("a user's values are the same on all of that user's threads, and on no other", async () => {
  await valueState(host, directScope(host, thread)).setUserValue("name", "Ada");
  const second = await openThread(host, { userId: "ada" });
  expect(await valueState(host, directScope(host, second)).getUserValue("name")).toBe("Ada");
  const nobodys = valueState(host, directScope(host, await openThread(host)));
  expect([await nobodys.getUserValue("name"), await nobodys.listUserValues()]).toEqual([undefined, {}]);
  await expect(nobodys.setUserValue("name", "Bob")).rejects.toThrow(/^invalid_argument: /);
});

it("what is kept is stored by the commit and not before; whoever follows is told the key alone", async () => {
  const scope = keptScope(host, thread);
  await valueState(host, scope).setValue("plan", "secret plan");
  const stored = valueState(host, directScope(host, thread));
  expect(await stored.getValue("plan")).toBeUndefined();
  expect(scope.buffer.events).toEqual([{ event: "kv_changed", data: { key: "plan" } }]);
  await commit(host, thread.id, scope.buffer);
  expect(await stored.getValue("plan")).toBe("secret plan");
});

function cycle(): object {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
}
