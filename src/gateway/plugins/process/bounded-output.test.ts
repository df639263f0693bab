import { expect, it } from "vitest";
import { boundedOutput } from "./bounded-output.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

it("output is kept up to the limit, and what exceeds it is reported and dropped", () => {
  const output = boundedOutput(5);
  expect(output.add(bytes("abc"))).toBe(true);
  expect(output.add(bytes("de"))).toBe(true);
  expect(output.add(bytes("fgh"))).toBe(false);
  expect(output.add(bytes(""))).toBe(false);
  expect(output.text()).toBe("abcde");
  expect(output.size()).toBe(5);
});

it("output in single bytes needs one buffer and no object for each of them", () => {
  const output = boundedOutput(100_000);
  for (let count = 0; count < 70_000; count++) output.add(bytes("x"));
  expect(output.bytes().buffer.byteLength).toBeLessThanOrEqual(140_000);
  expect(output.text()).toBe("x".repeat(70_000));
});

it("a character that the limit cuts in half is left out", () => {
  const output = boundedOutput(4);
  output.add(bytes("aéé"));
  expect(output.text()).toBe("aé");
});

it("invalid bytes are replaced, and the text does not grow beyond the limit by that", () => {
  const output = boundedOutput(10);
  output.add(new Uint8Array(8).fill(0xff));
  expect(output.text()).toBe("\ufffd\ufffd\ufffd");
});

it("a byte order mark stays in the text", () => {
  const output = boundedOutput(10);
  output.add(bytes("\ufeffa"));
  expect(output.text()).toBe("\ufeffa");
});
