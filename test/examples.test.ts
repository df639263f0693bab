// Promise: every example runs as it stands and prints what is written beside it.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const folder = fileURLToPath(new URL("../examples/", import.meta.url));
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** It waits for somebody until it is killed; test/an-approval-survives.test.ts plays what its output.txt says. */
const WAITS = "approval-survives";

const { FORCE_COLOR: _colour, ...environment } = process.env;
// Whoever has a key in the environment does not want to spend it on the tests.
const env = { ...environment, NO_COLOR: "1", HOLDFAST_MODEL: "demo" };

describe("every example", () => {
  it.each(names.filter((name) => name !== WAITS))("prints what examples/%s/output.txt says", (name) => {
    // A database that an example makes stands in the folder it is run from.
    const cwd = mkdtempSync(join(tmpdir(), "holdfast-test-"));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    const printed = execFileSync(process.execPath, [`${folder}${name}/main.ts`], { cwd, env, encoding: "utf8" });
    expect(printed).toBe(readFileSync(`${folder}${name}/output.txt`, "utf8"));
  });

  it.each(names)("uses nothing of ours but the public package: examples/%s", (name) => {
    const files = readdirSync(`${folder}${name}`).filter((file) => file.endsWith(".ts"));
    const imported = files.flatMap((file) => specifiers(readFileSync(`${folder}${name}/${file}`, "utf8")));
    const isPublic = (specifier: string) =>
      /^(node:|holdfast(\/|$)|zod$|@modelcontextprotocol\/server|@ai-sdk\/react$|ai$|openai$)/.test(specifier) ||
      existsSync(`${folder}${name}/${specifier}`);
    expect(imported.filter((specifier) => !isPublic(specifier) || specifier.includes(".."))).toEqual([]);
  });
});

describe("the tour", () => {
  it("fits a terminal of 90 columns", () => {
    const lines = readFileSync(`${folder}tour/output.txt`, "utf8").split("\n");
    expect(lines.filter(({ length }) => length > 90)).toEqual([]);
  });
});

function specifiers(code: string): string[] {
  return [...code.matchAll(/^(?:import|export|\}).* from "([^"]+)";$/gm)].map(([, specifier = ""]) => specifier);
}
