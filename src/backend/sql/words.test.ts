import { describe, expect, it } from "vitest";
import { soughtWords, wordsOf } from "./words.ts";

describe("the words of a text", () => {
  it("are its letters and digits in lower case, whatever stands between them", () => {
    expect(wordsOf("The Cat's 2nd_home: (Berlin)!")).toBe("the cat s 2nd home berlin");
  });

  it("are the same for characters that mean the same, and tell accents apart", () => {
    expect(wordsOf("ＡＢＣ１ ﬁn")).toBe("abc1 fin");
    expect(wordsOf("Ünde\u0301")).toBe(wordsOf("ündé"));
    expect(wordsOf("resume")).not.toBe(wordsOf("résumé"));
  });

  it("keep the marks that belong to a letter", () => {
    expect(wordsOf("हिन्दी भाषा")).toBe("हिन्दी भाषा".normalize("NFKC"));
  });

  it("are single signs and pairs where a script has no spaces", () => {
    expect(wordsOf("東京都 cat")).toBe("東 東京 京 京都 都 cat");
    expect(wordsOf("2020東京go")).toBe("2020 東 東京 京 go");
  });

  it("come from all texts, a name before its content", () => {
    expect(wordsOf("notes/food.md", "Likes tea")).toBe("notes food md likes tea");
  });

  it("are cut when they are endless, count only so often, and end before a database would refuse them", () => {
    expect(wordsOf("a".repeat(150))).toBe(`${"a".repeat(64)} ${"a".repeat(64)} ${"a".repeat(22)}`);
    expect(wordsOf("cat ".repeat(100)).split(" ")).toHaveLength(16);
    const many = Array.from({ length: 200_000 }, (_, index) => `word${index}`).join(" ");
    expect(wordsOf(many).length).toBeLessThan(1_000_000);
  });

  it("hold nothing that a query of a database could take for its own", () => {
    const tricky = `"cat" OR 'x':* & !(\\dog) NEAR^ a:b {c} -d`;
    expect(wordsOf(tricky)).toBe("cat or x dog near a b c d");
    expect(soughtWords(tricky).words).toEqual(["cat", "or", "x", "dog", "near", "a", "b", "c", "d"]);
  });
});

describe("the words of a question", () => {
  it("are each sought once; the last may go on while nothing follows it", () => {
    expect(soughtWords("tea Tea gre")).toEqual({ words: ["tea", "gre"], isLastOpen: true });
    expect(soughtWords("tea green ")).toEqual({ words: ["tea", "green"], isLastOpen: false });
  });

  it("are pairs where a script has no spaces, and a single sign where it stands alone", () => {
    expect(soughtWords("東京都").words).toEqual(["東京", "京都"]);
    expect(soughtWords("猫").words).toEqual(["猫"]);
  });

  it("are cut like those of a text", () => {
    expect(soughtWords("a".repeat(65)).words).toEqual(["a".repeat(64), "a"]);
  });

  it("may be none", () => {
    expect(soughtWords(" ?! ").words).toEqual([]);
  });
});
