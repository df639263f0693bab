import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";
import { describe, expect, it } from "vitest";
import { cycles, forbiddenImports, type ImportGraph, mayImport, mayUse } from "./import-map.ts";

const source = fileURLToPath(new URL("../src", import.meta.url));

describe("the imports of src/", () => {
  const graph = readGraph();

  it("point the way the table allows", () => {
    expect(forbiddenImports(graph, mayImport, mayUse)).toEqual([]);
  });

  it("never run in a circle, not even for types", () => {
    expect(cycles(graph)).toEqual([]);
  });
});

describe("the table", () => {
  it("names only its own folders, and lets no two of them import each other", () => {
    const known = Object.keys(mayImport);
    expect(
      Object.values(mayImport)
        .flat()
        .filter((folder) => !known.includes(folder)),
    ).toEqual([]);
    expect(cycles(mayImport)).toEqual([]);
  });

  it("keeps drivers from knowing each other, and the runtime from knowing drivers", () => {
    const drivers = ["backend/sqlite", "backend/postgres", "models/ai-sdk", "models/scripted", "models/demo"];
    const rim = ["models/choose", "holdfast.ts", "cli", "testing"];
    for (const [folder, allowed] of Object.entries(mayImport)) {
      if (!rim.includes(folder)) expect(allowed.filter((each) => drivers.includes(each))).toEqual([]);
    }
  });
});

describe("the check", () => {
  const table = { contracts: [], port: ["contracts"], "port/one": ["port"], "port/two": ["port"], "main.ts": ["port"] };
  const allowed = { contracts: ["zod"] };
  const check = (graph: ImportGraph) => forbiddenImports(graph, table, allowed);

  it("accepts imports along the arrows and inside a folder", () => {
    const graph = {
      "contracts/a.ts": ["contracts/deep/b.ts", "zod"],
      "contracts/deep/b.ts": [],
      "port/port.ts": ["contracts/a.ts", "pg"],
      "port/one/driver.ts": ["port/port.ts"],
      "main.ts": ["port/port.ts"],
    };
    expect(check(graph)).toEqual([]);
    expect(cycles(graph)).toEqual([]);
  });

  it("names an import against the arrows", () => {
    expect(check({ "contracts/a.ts": ["port/port.ts"], "port/port.ts": [] })).toEqual([
      "contracts/a.ts imports port/port.ts",
    ]);
  });

  it("names a driver that knows another driver, a port that knows its driver, and an arrow that skips the table", () => {
    const graph = {
      "port/one/driver.ts": ["port/two/driver.ts"],
      "port/two/driver.ts": ["contracts/a.ts"],
      "port/port.ts": ["port/one/driver.ts"],
      "contracts/a.ts": [],
    };
    expect(check(graph)).toEqual([
      "port/one/driver.ts imports port/two/driver.ts",
      "port/two/driver.ts imports contracts/a.ts",
      "port/port.ts imports port/one/driver.ts",
    ]);
  });

  it("names a package that a closed folder must not use, and a file that belongs nowhere", () => {
    expect(check({ "contracts/a.ts": ["node:fs"], "portable/x.ts": [] })).toEqual([
      "contracts/a.ts uses node:fs",
      "portable/x.ts is in no folder of the table",
    ]);
  });

  it("finds a circle of any length once", () => {
    expect(cycles({ a: ["b"], b: ["c"], c: ["b"], d: ["d"] })).toEqual(["b → c → b", "d → d"]);
  });

  it("reads every form of import", () => {
    const code = `
      import "./effect.ts";
      import { type A, b } from "../b.ts";
      import type { C } from "./c.ts";
      export * from "./d.ts";
      export type { E } from "zod";
      const f = await import("./f.ts");
      type G = import("./g.ts").G;
      const quoted = 'import "./no.ts"';
    `;
    expect(importsOf("deep/a.ts", code)).toEqual([
      "deep/effect.ts",
      "b.ts",
      "deep/c.ts",
      "deep/d.ts",
      "zod",
      "deep/f.ts",
      "deep/g.ts",
    ]);
  });
});

// Tests may reach for whatever they need; they are not part of what we ship.
function readGraph(): ImportGraph {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"));
  return Object.fromEntries(files.map((file) => [file, importsOf(file, readFileSync(`${source}/${file}`, "utf8"))]));
}

function importsOf(file: string, code: string): string[] {
  const { staticImports, staticExports } = parseSync(file, code).module;
  const specifiers = [
    ...staticImports.map((each) => each.moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value)),
    ...[...code.matchAll(/\bimport\(\s*["']([^"']+)["']/g)].map((match) => match[1]),
  ];
  const named = specifiers.filter((specifier) => specifier !== undefined);
  return [...new Set(named.map((name) => (name.startsWith(".") ? posix.join(posix.dirname(file), name) : name)))];
}
