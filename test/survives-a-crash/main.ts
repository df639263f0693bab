// `npm run crash`: the whole matrix on both databases, sleepers, chaos, and the proof that the matrix can fail; then the
// matrices of the gateway and of workflows.
// Ends with 0 when everything held, with 1 when something did not, with 2 when it could not be tried.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startEffectLedger } from "../../src/testing/effect-ledger.ts";
import { chooseSeed, randomFrom } from "../../src/testing/random.ts";
import { startPostgres } from "../postgres.ts";
import type { Case } from "./case.ts";
import { runChaos } from "./chaos.ts";
import { asleepAtEveryPoint, casesOf, count, killedAgain, killedAtEveryPoint, newTally, type Run } from "./matrix.ts";
import { checkMutations } from "./mutations.ts";
import { sleeperCommitsNothing } from "./pauses.ts";
import { openPostgresSite, runOnPostgres } from "./postgres-cases.ts";
import { startReport, tallied } from "./report.ts";
import { threeTools } from "./scenarios/three-tools.ts";
import { scenarioNamed, scenarios } from "./scenarios.ts";
import { runOnSqlite } from "./sqlite-cases.ts";

const USAGE = `npm run crash -- [--database sqlite|postgres] [--part matrix|again|sleeper|sleep|chaos|mutations|gateway|workflows]
                 [--scenario <name>] [--point <name>] [--seed <number>]

The gateway alone, in parts: node test/gateway-crashes/main.ts --help
Workflows alone, in parts: node test/workflow-crashes/main.ts --help`;

/** Where a process is killed that is killed again while it recovers: a call may have been made, or was, or is answered. */
const cutOff = [
  "before effect run_tool #3",
  "inside shop/refund #1",
  "inside shop/charge #1",
  "inside shop/ship #1",
  "after effect call_model #1",
];

const { values: options } = parseArgs({
  options: {
    database: { type: "string" },
    part: { type: "string" },
    scenario: { type: "string" },
    point: { type: "string" },
    seed: { type: "string" },
    help: { type: "boolean" },
  },
});

if (options.help) {
  console.log(USAGE);
  process.exit(0);
}

// Ends what was started, too, which only a process that ends by itself can do.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(2));

const chosen = options.scenario === undefined ? scenarios : [scenarioNamed(options.scenario)];
const isNarrowed = options.scenario !== undefined || options.point !== undefined;
const seed = chooseSeed(options.seed ?? process.env.HOLDFAST_CRASH_SEED);
const ledger = await startEffectLedger();
const report = startReport();

try {
  if (wants("sqlite") && wantsPart("matrix")) await matrix("sqlite", (cases) => runOnSqlite(cases, ledger));
  if (wants("sqlite") && wantsPart("again")) await again("sqlite", cutOff, (cases) => runOnSqlite(cases, ledger));
  if (wants("postgres")) await onPostgres();
  if (wantsPart("mutations") && options.database === undefined) await mutations();
} catch (error) {
  console.error(error);
  process.exit(2);
}
await ledger.close();
const isGatewayRed = wantsPart("gateway") && (await matrixOf(new URL("../gateway-crashes/main.ts", import.meta.url)));
const isWorkflowRed =
  wantsPart("workflows") && (await matrixOf(new URL("../workflow-crashes/main.ts", import.meta.url)));
const isRed = report.isRed || isGatewayRed || isWorkflowRed;
console.log(isRed ? "RED: a promise was broken." : "Green: every promise was kept.");
process.exit(isRed ? 1 : 0);

function wants(database: string): boolean {
  return options.database === undefined || options.database === database;
}

/** What was asked for; everything unless something was, and only the matrix when one scenario or point was. */
function wantsPart(part: string): boolean {
  return options.part === undefined ? !isNarrowed || part === "matrix" : options.part === part;
}

async function matrix(database: string, run: Run): Promise<void> {
  if (options.point !== undefined) {
    const kills = [options.point];
    for (const scenario of chosen) report.line(database, scenario.name, tallied(await run([{ scenario, kills }])));
    return;
  }
  const undisturbed = await casesOf(chosen, run);
  const cases = killedAtEveryPoint(undisturbed);
  const results = [...undisturbed, ...(await run(cases))];
  const whole = newTally();
  for (const scenario of chosen) {
    const own = results.filter(({ of }) => of.scenario === scenario);
    report.line(database, scenario.name, tallied(own));
    count(whole, own);
  }
  if (chosen.length > 1) report.line(database, "all scenarios", whole);
}

async function again(database: string, first: readonly string[], run: Run): Promise<void> {
  const cases = await killedAgain(threeTools, first, run);
  report.line(database, "three tools, killed again while recovering", tallied(await run(cases)));
}

async function onPostgres(): Promise<void> {
  const server = await startPostgres();
  const site = await openPostgresSite(server.url, ledger);
  try {
    const run: Run = (cases: readonly Case[]) => runOnPostgres(cases, site);
    if (wantsPart("matrix")) await matrix("postgres", run);
    if (wantsPart("again")) await again("postgres", cutOff.slice(0, 2), run);
    if (wantsPart("sleeper")) {
      const problems = await sleeperCommitsNothing(site);
      const tally = { cases: 1, notReached: 0, red: [...problems] };
      report.line("postgres", "a worker that wakes up while its successor is at work", tally);
    }
    if (wantsPart("sleep")) {
      const sleeping = asleepAtEveryPoint(await casesOf([threeTools], run));
      report.line("postgres", "three tools, asleep past the lease", tallied(await run(sleeping)));
    }
    if (wantsPart("chaos")) await chaos(server.url);
  } finally {
    await site.close();
    await server.stop();
  }
}

async function chaos(url: string): Promise<void> {
  const { kills, cuts, unknown, problems } = await runChaos(url, ledger, randomFrom(seed), {
    workers: 4,
    threads: 200,
    forMs: 30_000,
  });
  report.line(
    "postgres",
    `chaos: ${kills} workers killed, ${cuts} connections cut, ${unknown} calls unknown (seed ${seed})`,
    {
      cases: 200,
      notReached: 0,
      red: [...problems],
    },
  );
}

async function mutations(): Promise<void> {
  const server = await startPostgres();
  try {
    for (const { name, noticed, problem } of await checkMutations(server.url)) {
      report.line("mutation", name, { cases: 1, notReached: 0, red: problem === undefined ? [] : [problem] });
      if (noticed !== undefined) console.log(`      noticed: ${noticed}`);
    }
  } finally {
    await server.stop();
  }
}

/** A matrix that is a program of its own. True when it found a promise broken; ends when it could not be tried. */
async function matrixOf(program: URL): Promise<boolean> {
  const { database, seed } = options;
  const args = [
    ...(database === undefined ? [] : ["--database", database]),
    ...(seed === undefined ? [] : ["--seed", seed]),
  ];
  const child = spawn(process.execPath, [fileURLToPath(program), ...args], { stdio: "inherit" });
  process.once("exit", () => child.kill());
  await once(child, "close");
  if (child.exitCode !== 0 && child.exitCode !== 1) process.exit(2);
  return child.exitCode === 1;
}
