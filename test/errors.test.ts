import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorCodes, HoldfastError } from "../src/contracts/error.ts";

// The code marks that keep `<slug>` visible on the page are no part of the words.
const page = readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8");
const sections = page.split(/^## /m).slice(1).map(readSection);

describe("docs/errors.md", () => {
  it("has one entry for every error code and no other", () => {
    expect(sections.map(({ code }) => code).sort()).toEqual([...errorCodes].sort());
  });

  it.each(sections)("says when $code happens and what to do", ({ code, when, whatToDo }) => {
    expect(when).toMatch(/^[A-Z].{20,}\.$/);
    expect(whatToDo).toBe(new HoldfastError(code, "").hint);
  });
});

function readSection(section: string) {
  const [heading = "", ...body] = section.split("\n");
  const [when = "", whatToDo = ""] = body.join(" ").split("**What to do:**");
  return {
    code: /^`(\w+)`$/.exec(heading)?.[1] as HoldfastError["code"],
    when: words(when),
    whatToDo: words(whatToDo),
  };
}

function words(markdown: string): string {
  return markdown.replaceAll("`", "").replace(/\s+/g, " ").trim();
}
