// Promise: what the documentation shows exists. Links lead somewhere, snippets are code that runs, codes are explained.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = ["*.md", "docs/**/*.md", "conformance/**/*.md", "examples/**/*.md"].flatMap(filesMatching);
const concepts = filesMatching("docs/concepts/*.md");
const sources = filesMatching("src/**/*.ts").filter((path) => !path.endsWith(".test.ts"));

describe("every page", () => {
  it.each(pages)("has links that lead somewhere: %s", (page) => {
    expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([]);
  });
});

describe("the README", () => {
  it("shows the smallest example and what it prints, word for word", () => {
    expect(blocksOf("README.md", "ts")).toEqual([read("examples/minimal/main.ts").trimEnd()]);
    expect(blocksOf("README.md", "text")).toEqual([read("examples/minimal/output.txt").trimEnd()]);
  });
});

describe("every concept page", () => {
  const running = [...filesMatching("examples/**/*.ts"), ...filesMatching("src/**/*.test.ts")].map((path) =>
    withoutIndents(read(path)),
  );

  it.each(concepts)("takes its snippets from an example or a test: %s", (page) => {
    const snippets = blocksOf(page, "ts");
    expect(snippets).not.toEqual([]);
    expect(snippets.filter((snippet) => !running.some((code) => code.includes(withoutIndents(snippet))))).toEqual([]);
  });

  it.each(concepts)("stays short and names its limits: %s", (page) => {
    expect(read(page).split("\n").length).toBeLessThan(120);
    expect(read(page)).toMatch(/^## Limits$/m);
  });
});

describe("the codes that a contract returns as values", () => {
  it("are all explained", () => {
    const explained = pages.map(read).join("\n");
    const codes = new Set(sources.flatMap((path) => codesIn(read(path))));
    expect(codes).toContain("tool_not_found");
    expect([...codes].filter((code) => !explained.includes(`\`${code}\``))).toEqual([]);
  });
});

/** Kinds of tool errors, and everything that carries the contracts' own prefix. */
function codesIn(code: string): string[] {
  const lines = code.split("\n").filter((line) => /\berror_type: |"agents_/.test(line));
  return lines.flatMap((line) => [
    ...[...line.matchAll(/"(agents_[a-z_]+)"/g)].map(([, name = ""]) => name),
    ...[...line.matchAll(/error_type: (?:\w+ \? "(\w+)" : )?"(\w+)"/g)].flatMap(([, ...names]) =>
      names.filter(Boolean),
    ),
  ]);
}

function linksOf(page: string): string[] {
  const prose = read(page).replace(/^```[\s\S]*?^```/gm, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link).filter((link) => !/^\w+:/.test(link));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

/** The names under which GitHub lets one link to the headings of a page. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function blocksOf(page: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\`$`, "gm");
  return [...read(page).matchAll(fence)].map(([, block = ""]) => block);
}

function withoutIndents(code: string): string {
  return code.replace(/^ +/gm, "");
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function filesMatching(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).map((path) => path.replaceAll("\\", "/"));
}
