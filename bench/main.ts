// The benchmark: what Holdfast costs beside the bare database, the AI SDK and LangGraph.js. Options: --quick, and --only
// with names of sections.
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { page, summary, updated } from "./page.ts";
import { stopPostgres } from "./postgres-server.ts";
import type { Findings, Section, Size } from "./section.ts";
import { sections } from "./sections.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, only: { type: "string" } } });
const size: Size = values.quick ? "quick" : "full";
const chosen = choose(values.only?.split(","));

const measured: { section: Section; findings: Findings }[] = [];
const start = performance.now();
try {
  for (const section of chosen) {
    const begun = performance.now();
    process.stderr.write(`${section.name} … `);
    measured.push({ section, findings: await section.measure(size) });
    process.stderr.write(`${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
  }
} finally {
  await stopPostgres();
}
console.log(summary(measured));
const minutes = (performance.now() - start) / 60_000;
const results = new URL("RESULTS.md", import.meta.url);
if (size === "full") {
  const isWhole = chosen.length === sections.length;
  await writeFile(results, isWhole ? page(measured, minutes) : updated(await readFile(results, "utf8"), measured));
}

function choose(names: readonly string[] | undefined): readonly Section[] {
  if (!names) return sections;
  const unknown = names.filter((name) => !sections.some((section) => section.name === name));
  if (unknown.length === 0) return sections.filter(({ name }) => names.includes(name));
  const known = sections.map(({ name }) => name).join(", ");
  console.error(`There is no section ${unknown.join(", ")}; there are ${known}.`);
  process.exit(1);
}
