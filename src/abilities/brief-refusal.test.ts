import { expect, it } from "vitest";
import { openShop, person } from "../../test/shop-desk.ts";
import { brief, briefRefusal } from "./brief-refusal.ts";

const long = "x".repeat(100_000);

it("repeats the beginning of what was asked for, and the rest of its own words", () => {
  expect(brief(`There is no thread "${long}" of "ann".`)).toBe(`There is no thread "${"x".repeat(200)}…" of "ann".`);
  expect(brief(long)).toHaveLength(2_001);
  const short = { code: "a", message: 'There is no thread "7".', data: { status: 404 } };
  expect(briefRefusal(short)).toEqual(short);
});

it("tears no character in two", () => {
  expect(brief(`"${"x".repeat(199)}😀${long}"`).isWellFormed()).toBe(true);
});

it.each([
  [long, {}],
  ["holdfast/get-thread", { thread_id: long }],
  ["holdfast/open-thread", { agent: long }],
  ["holdfast/open-thread", { agent: "shop", env: { [long]: 1 } }],
  ["agents/chat", { agent: long, message: "x" }],
  ["agents/get-conversation-session", { session_id: long }],
  ["agents/get-pending-action", { action_id: long }],
  ["holdfast/write-file", { thread_id: "x", path: "a", data: "", mime_type: long }],
])("answers %.30s in a few words, however much was sent", async (name, input) => {
  const { call } = await openShop();
  const { code, ...answer } = await call(person(7), name, input);
  expect(code).toEqual(expect.any(String));
  expect(JSON.stringify(answer).length).toBeLessThan(3_000);
});
