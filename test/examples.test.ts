// Promise: every example runs as it stands and prints what is written beside it.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("../examples/", import.meta.url));
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const { FORCE_COLOR: _colour, ...environment } = process.env;
const env = { ...environment, NO_COLOR: "1" };

describe("every example", () => {
  it.each(names)("prints what examples/%s/output.txt says", (name) => {
    const printed = execFileSync(process.execPath, [`${folder}${name}/main.ts`], { env, encoding: "utf8" });
    expect(printed).toBe(readFileSync(`${folder}${name}/output.txt`, "utf8"));
  });

  it.each(names)("uses nothing of ours but the public package: examples/%s", (name) => {
    const files = readdirSync(`${folder}${name}`).filter((file) => file.endsWith(".ts"));
    const imported = files.flatMap((file) => specifiers(readFileSync(`${folder}${name}/${file}`, "utf8")));
    const isPublic = (specifier: string) =>
      /^(node:|holdfast(\/|$))/.test(specifier) || existsSync(`${folder}${name}/${specifier}`);
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
