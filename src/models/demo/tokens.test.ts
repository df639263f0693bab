import { describe, expect, it } from "vitest";
import { readText } from "./tokens.ts";

function kinds(text: string): string[] {
  return readText(text).tokens.map(({ kind, text: words }) => `${kind} ${words}`);
}

describe("a text falls into", () => {
  it.each([
    ["Don’t stop.", ["word Don’t", "word stop", "mark ."]],
    ["order A-17, 2026-17 and B17", ["word order", "code A-17", "mark ,", "code 2026-17", "word and", "code B17"]],
    ["on 2026-11-16 at 10:30", ["word on", "date 2026-11-16", "word at", "time 10:30"]],
    ["2026-11-16T10:30:00Z", ["date 2026-11-16T10:30:00Z"]],
    ['say "good morning" to O\'Brien', ["word say", "quotation good morning", "word to", "word O'Brien"]],
    ["« oui » ‚ 'so so'", ["quotation  oui ", "mark ‚", "quotation so so"]],
    ["ana.b+c@example.co.uk, ok", ["email ana.b+c@example.co.uk", "mark ,", "word ok"]],
    ["(https://example.com/a?b=1).", ["mark (", "url https://example.com/a?b=1", "mark )", "mark ."]],
    ["-3.5 +2 7.", ["number -3.5", "number +2", "number 7", "mark ."]],
    ["日本 ÅSA naïve", ["word 日本", "word ÅSA", "word naïve"]],
    ["", []],
  ])("“%s”", (text, expected) => {
    expect(kinds(text)).toEqual(expected);
  });

  it.each([
    ["12 euros", 12, "EUR"],
    ["€12", 12, "EUR"],
    ["12€", 12, "EUR"],
    ["EUR 12,50", 12.5, "EUR"],
    ["$1,200.50", 1200.5, "USD"],
    ["1.200,50 €", 1200.5, "EUR"],
    ["1.200 euros", 1200, "EUR"],
    ["1,200,300 dollars", 1_200_300, "USD"],
    ["£0.99", 0.99, "GBP"],
    ["50 cents", 0.5, undefined],
    ["twelve dollars", 12, "USD"],
  ])("money: “%s”", (text, amount, currency) => {
    const [money, ...rest] = readText(text).tokens;
    expect(money).toMatchObject({ kind: "money", amount, ...(currency && { currency }), start: 0, end: text.length });
    expect(rest).toEqual([]);
  });

  it.each([
    ["1,200", 1200],
    ["1.5", 1.5],
    ["1.234", 1.234],
    ["1,5", 1.5],
    ["1.234.567", 1_234_567],
  ])("a number: %s", (text, amount) => {
    expect(readText(text).tokens).toMatchObject([{ kind: "number", amount }]);
  });

  it("pieces with their places in the text", () => {
    const { text, tokens } = readText("Refund  order 7, 12 euros!");
    for (const token of tokens) {
      if (token.kind !== "money") expect(text.slice(token.start, token.end)).toBe(token.text);
    }
  });

  it.each(["a", "1.", "a-", "a1-", '"', "'", "a@", "https://", "€", "é"])(
    "a bounded number of steps: %s …",
    (piece) => {
      // Long enough that a pattern which goes back over what it has read would not come to an end.
      expect(readText(piece.repeat(500_000)).text.length).toBeLessThan(5_000);
    },
  );
});
