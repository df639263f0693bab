import { expect, it } from "vitest";
import { REDACTED } from "../../contracts/tools/sensitive-keys.ts";
import { withoutSecrets } from "./without-secrets.ts";

const clean = (value: unknown, ...secrets: string[]) => withoutSecrets(value, new Set(secrets));

it("hides a secret wherever it stands in a value, as often as it does", () => {
  const value = { text: "key=hunter22; again hunter22", list: [["hunter22"], 7, null, true], other: "hunter" };
  expect(clean(value, "hunter22")).toEqual({
    text: `key=${REDACTED}; again ${REDACTED}`,
    list: [[REDACTED], 7, null, true],
    other: "hunter",
  });
});

it("hides one that is the name of something", () => {
  expect(clean({ hunter22: { hunter22: 1 } }, "hunter22")).toEqual({ [REDACTED]: { [REDACTED]: 1 } });
});

it("takes a secret for text, whatever its characters mean elsewhere", () => {
  expect(clean("a $& b .*+?^ c", ".*+?^ ")).toBe(`a $& b ${REDACTED}c`);
});

it("leaves nothing of a secret that begins like another one", () => {
  expect(clean("the-key-and-more", "the-key", "the-key-and-more")).toBe(REDACTED);
});

it("leaves values of fewer than six characters alone, which look like words", () => {
  expect(clean("yes, 12345 and 123456", "yes", "12345", "123456")).toBe(`yes, 12345 and ${REDACTED}`);
});

it("gives the very value when there is nothing to hide", () => {
  const value = { text: "hunter22" };
  expect(clean(value)).toBe(value);
  expect(clean(value, "short")).toBe(value);
});

it("keeps what is neither text nor a plain value as it would be stored", () => {
  const bytes = new Uint8Array([1, 2]);
  const circle: unknown[] = ["hunter22"];
  circle.push(circle);
  const value = { at: new Date(0), bytes, error: new Error("not hunter22") };
  expect(clean(value, "hunter22")).toEqual({
    at: "1970-01-01T00:00:00.000Z",
    bytes,
    error: new Error(`not ${REDACTED}`),
  });
  expect(clean(circle, "hunter22")).toEqual([REDACTED, circle]);
});
