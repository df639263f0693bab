import { describe, expect, it } from "vitest";
import { createShownWhole } from "./shown-whole.ts";

describe("what a page was shown", () => {
  it("is known once, for as long as the thread is where it was", () => {
    const shown = createShownWhole();
    shown.add("one", "1.9");
    expect(shown.take("one", "2.9")).toBe(false);
    expect(shown.take("two", "1.9")).toBe(false);
    expect(shown.take("one", "1.9")).toBe(true);
    expect(shown.take("one", "1.9")).toBe(false);
  });

  it("is forgotten after a minute, and when there is too much of it", () => {
    let time = 0;
    const shown = createShownWhole(() => time);
    shown.add("one", "1.9");
    time = 59_999;
    shown.add("two", "1.9");
    time = 60_000;
    expect(shown.take("one", "1.9")).toBe(false);
    for (let index = 0; index < 10_000; index++) shown.add(`more-${index}`, "1.9");
    expect(shown.take("two", "1.9")).toBe(false);
    expect(shown.take("more-0", "1.9")).toBe(true);
  });
});
