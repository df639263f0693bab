import { describe, expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";

const known = ["max_workers", "dedupe_ttl", "strict_mode", "strict_protocol", "name", "at", "uses"];

describe("a mistyped name", () => {
  it.each([
    ["max_worker", "max_workers"],
    ["maxWorkers", "max_workers"],
    ["max-workers", "max_workers"],
    ["dedup_tlt", "dedupe_ttl"],
    ["strict_protokol", "strict_protocol"],
    ["nmae", "name"],
    ["use", "uses"],
    ["ta", "at"],
    ["timezone", undefined],
    ["x", undefined],
    ["", undefined],
    ["n".repeat(1_000_000), undefined],
  ])("%.20s is taken for %s", (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });
});
