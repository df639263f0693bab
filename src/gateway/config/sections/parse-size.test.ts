import { expect, it } from "vitest";
import { parseSize } from "./parse-size.ts";

it.each([
  ["1MB", 1_048_576],
  ["2 MiB", 2_097_152],
  ["512kb", 524_288],
  ["1.5KB", 1_536],
  ["100", 100],
  ["7B", 7],
  [4096, 4096],
  [0, 0],
  [-1, undefined],
  [1.5, undefined],
  ["1GB", undefined],
  ["1 constructor", undefined],
  ["MB", undefined],
  ["-1MB", undefined],
  ["1e9", undefined],
  [null, undefined],
])("the size %j is %j bytes", (value, bytes) => {
  expect(parseSize(value)).toBe(bytes);
});
