import { describe, expect, it } from "vitest";
import * as sse from "./sse.ts";

describe("a server-sent event", () => {
  it("is one line, whatever line ends the payload holds", () => {
    const sent = sse.frame({ text: "a\n\ndata: forged\r\n\u2028" });
    expect(sent.split(/[\n\r\u2028]/)).toEqual([sent.trimEnd(), "", ""]);
    expect(JSON.parse(sent.slice("data: ".length))).toEqual({ text: "a\n\ndata: forged\r\n\u2028" });
  });

  it("writes an empty payload as the contracts do", () => {
    expect(sse.frame({})).toBe("data: []\n\n");
  });

  it("refuses what JSON cannot carry", () => {
    expect(() => sse.frame({ size: 1n })).toThrow("not_json");
  });
});

it("asks everything between server and reader to pass events on at once", () => {
  expect(sse.headers).toMatchObject({ Connection: "keep-alive", "X-Accel-Buffering": "no" });
  expect(Object.isFrozen(sse.headers)).toBe(true);
});
