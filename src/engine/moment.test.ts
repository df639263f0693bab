import { describe, expect, it } from "vitest";
import { longAgo, momentNow, passed } from "./moment.ts";

const began = { steady: 1_000, wall: 1_700_000_000_000 };
const later = (steady: number, wall: number) => ({ steady: began.steady + steady, wall: began.wall + wall });

describe("the time that has passed", () => {
  it("is what both clocks say while nobody disturbs them", () => {
    expect(passed(began, later(250, 250))).toBe(250);
    expect(passed(began, began)).toBe(0);
  });

  it("is that of the wall when the machine was suspended, and the steady clock stood still", () => {
    expect(passed(began, later(5, 3_600_000))).toBe(3_600_000);
  });

  it("is that of the steady clock when somebody has set the other one back", () => {
    expect(passed(began, later(20_000, -3_600_000))).toBe(20_000);
  });

  it("is for ever since before everything", () => {
    expect(passed(longAgo, momentNow())).toBe(Number.POSITIVE_INFINITY);
  });
});
