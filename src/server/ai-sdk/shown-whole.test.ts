import { describe, expect, it } from "vitest";
import { createShownWhole } from "./shown-whole.ts";

describe("what a page was shown", () => {
  it("is known once, for the run that it was shown", () => {
    const shown = createShownWhole();
    shown.add("one", 1);
    expect(shown.take("one", 2)).toBe(false);
    expect(shown.take("two", 1)).toBe(false);
    expect(shown.take("one", 1)).toBe(true);
    expect(shown.take("one", 1)).toBe(false);
  });

  it("is forgotten after a minute, and when there is too much of it", () => {
    let time = 0;
    const shown = createShownWhole(() => time);
    shown.add("one", 1);
    time = 59_999;
    shown.add("two", 1);
    time = 60_000;
    expect(shown.take("one", 1)).toBe(false);
    for (let index = 0; index < 10_000; index++) shown.add(`more-${index}`, 1);
    expect(shown.take("two", 1)).toBe(false);
    expect(shown.take("more-0", 1)).toBe(true);
  });
});
