import { describe, expect, it } from "vitest";
import { parseDuration, parseInterval } from "./durations.ts";

describe("a duration", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
    ["1w", 604_800_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    [" 10s ", 10_000],
    ["0s", 0],
  ])("%s takes %i ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
    expect(parseInterval(text)).toBe(ms);
  });

  it.each(["", "30", "30 s", "-5s", "s", "1y", "5m!", "1e3s", "hourly", "99999999w", `${"1s".repeat(50)}`, 30, null])(
    "is not %j",
    (value) => {
      expect(parseDuration(value)).toBeUndefined();
    },
  );

  it("of a schedule may have a name; a month has 30 days", () => {
    expect(["hourly", "daily", "weekly", "monthly"].map(parseInterval)).toEqual([
      3_600_000, 86_400_000, 604_800_000, 2_592_000_000,
    ]);
    expect(parseInterval("yearly")).toBeUndefined();
    expect(parseInterval("constructor")).toBeUndefined();
  });
});
