import { expect, it } from "vitest";
import { terminalScreen } from "../../test/terminal-screen.ts";
import { createLiveArea } from "./live-area.ts";

it("writes over what was drawn before, and leaves nothing of it", () => {
  const screen = terminalScreen(20, 10);
  screen.write("$ holdfast\n");
  const area = createLiveArea(screen);
  for (const [lines, shown] of [
    [
      ["one", "two", "three"],
      ["one", "two", "three"],
    ],
    [
      ["one", "2"],
      ["one", "2"],
    ],
    [
      ["o", "22", "333", "4444"],
      ["o", "22", "333", "4444"],
    ],
    [["o"], ["o"]],
  ] as const) {
    area.draw(lines);
    expect(screen.shown()).toEqual(["$ holdfast", ...shown]);
  }
  area.end();
  screen.write("done\n");
  expect(screen.shown()).toEqual(["$ holdfast", "o", "done"]);
});

it("writes in one piece, and nothing where nothing has changed", () => {
  const screen = terminalScreen();
  const area = createLiveArea(screen);
  area.draw(["one", "two"]);
  area.draw(["one", "two"]);
  expect(screen.writes).toBe(1);
  area.draw(["one", "three"]);
  expect(screen.writes).toBe(2);
});

it("leaves the last column and the last line free, where a terminal would move everything up", () => {
  const area = createLiveArea(terminalScreen(80, 24));
  expect(area.room()).toEqual({ width: 79, height: 23 });
  expect(createLiveArea(terminalScreen(1, 1)).room()).toEqual({ width: 1, height: 1 });
});

it("finds its first line again in a terminal that was made narrower", () => {
  const screen = terminalScreen(20, 10);
  const area = createLiveArea(screen);
  area.draw(["\u001b[32m123456789 12345\u001b[39m", "two"]);
  // As a terminal breaks the line that does not fit any more.
  const narrow = terminalScreen(10, 10);
  narrow.write("123456789 \r\n12345\r\ntwo");
  const moved = createLiveArea(Object.assign(screen, { columns: 10, write: narrow.write.bind(narrow) }));
  expect(moved.room().width).toBe(9);
  area.draw(["1234", "two"]);
  expect(narrow.shown()).toEqual(["1234", "two"]);
});
