// npm run conformance -- <folder> [--level core|extended] [--op name]
import { parseArgs } from "node:util";
import { closingLines, count, type Filter, hasFailed, type OperationReport, runFolder } from "./runner.ts";

const USAGE = "npm run conformance -- <folder> [--level core|extended] [--op name]";

const { folder, filter } = readArguments();
const reports = await runFolder(folder, filter).catch((error: Error) => refuse(error.message));
if (reports.length === 0) refuse(`No vector file below "${folder}" matches.`);
for (const report of reports) console.log(linesOf(report).join("\n"));
console.log(closingLines(reports).join("\n"));
process.exitCode = hasFailed(reports) ? 1 : 0;

function linesOf({ op, missing, cases }: OperationReport): string[] {
  if (missing) return [missing === "not_yet" ? `${op} not yet` : `${op} missing`];
  const deviating = count(cases, "deviates");
  const tally = `${op} ${count(cases, "passed")} passed, ${count(cases, "failed")} failed`;
  return [
    deviating > 0 ? `${tally}, ${deviating} deviate` : tally,
    ...cases.filter(({ verdict }) => verdict === "failed").map(({ name, difference }) => `  ${name}: ${difference}`),
  ];
}

function readArguments(): { folder: string; filter: Filter } {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { level: { type: "string" }, op: { type: "string" } },
    });
    const [folder, ...others] = positionals;
    const { level, op } = values;
    if (folder === undefined || others.length > 0) return refuse("Name one folder of vector files.");
    if (level !== undefined && level !== "core" && level !== "extended") return refuse(`There is no level "${level}".`);
    return { folder, filter: { ...(level && { level }), ...(op && { op }) } };
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(why: string): never {
  console.error(`${why}\nUsage: ${USAGE}`);
  process.exit(2);
}
