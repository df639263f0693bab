// The matrix of workflows, part of `npm run crash`: a workflow of ten steps with a thousand items, killed at every commit outside of
// its long parts and at some within them, on both databases.
// Ends with 0 when everything held, with 1 when something did not, with 2 when it could not be tried.
import { parseArgs } from "node:util";
import { chooseSeed, randomFrom } from "../../src/testing/random.ts";
import { startPostgres } from "../postgres.ts";
import { casesOf } from "../survives-a-crash/matrix.ts";
import { startReport, tallied } from "../survives-a-crash/report.ts";
import { killed } from "./matrix.ts";
import { runCases, type Site, voyageOf } from "./run-cases.ts";

const USAGE = `node test/workflow-crashes/main.ts [--database sqlite|postgres] [--items <number>] [--within <number>]
                 [--point <name>] [--variant finishes|fails] [--seed <number>]`;

const { values: options } = parseArgs({
  options: {
    database: { type: "string" },
    items: { type: "string", default: "1000" },
    within: { type: "string", default: "40" },
    point: { type: "string" },
    variant: { type: "string" },
    seed: { type: "string" },
    help: { type: "boolean" },
  },
});

if (options.help) {
  console.log(USAGE);
  process.exit(0);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(2));

const { database, point } = options;
const seed = chooseSeed(options.seed ?? process.env.HOLDFAST_CRASH_SEED);
const report = startReport();

try {
  if (database !== "postgres") await matrix("sqlite", {});
  if (database !== "sqlite") {
    const server = await startPostgres();
    try {
      await matrix("postgres", { url: server.url });
    } finally {
      await server.stop();
    }
  }
} catch (error) {
  console.error(error);
  process.exit(2);
}
console.log(report.isRed ? "RED: a promise was broken." : "Green: every promise was kept.");
process.exit(report.isRed ? 1 : 0);

async function matrix(where: string, site: Site): Promise<void> {
  for (const variant of ["finishes", "fails"] as const) {
    if (options.variant !== undefined && options.variant !== variant) continue;
    const voyage = voyageOf(variant, Number(options.items));
    const undisturbed = await casesOf([voyage], (cases) => runCases(cases, site));
    const cases =
      point === undefined
        ? killed(undisturbed, randomFrom(seed), Number(options.within))
        : [{ scenario: voyage, kills: [point] }];
    const results = [...undisturbed, ...(await runCases(cases, site))];
    report.line(where, `${voyage.name} (seed ${seed})`, tallied(results));
  }
}
