// The matrix of the gateway, part of `npm run crash`: every scenario, killed at every crash point, on both databases; gateways
// that are killed again, that lose their leases, that leave running plugins behind; and the proof that the matrix can fail.
// Ends with 0 when everything held, with 1 when something did not, with 2 when it could not be tried.
import { parseArgs } from "node:util";
import { chooseSeed, type Random, randomFrom } from "../../src/testing/random.ts";
import { startPostgres, TEST_URL } from "../postgres.ts";
import type { Database } from "../survives-a-crash/database.ts";
import {
  asleepAtEveryPoint,
  casesOf,
  count,
  killedAgain,
  killedAtEveryPoint,
  newTally,
} from "../survives-a-crash/matrix.ts";
import { startReport, tallied } from "../survives-a-crash/report.ts";
import { endsLate, lateEnds } from "./late-ends.ts";
import { lostBeforeCommit, lostWhileRunning } from "./lost-leases.ts";
import { checkMutations } from "./mutations.ts";
import { runCases } from "./run-cases.ts";
import { orderPipeline } from "./scenarios/order-pipeline.ts";
import { workedExample } from "./scenarios/worked-example.ts";
import { scenarioNamed, scenarios } from "./scenarios.ts";
import { openSite, type Site } from "./site.ts";

const USAGE = `node test/gateway-crashes/main.ts [--database sqlite|postgres] [--part matrix|again|late|leases|sleep|mutations]
                                 [--scenario <name>] [--point <name>] [--seed <number>]`;

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
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    console.error(`Ended by ${signal}.`);
    process.exit(2);
  });
}

const chosen = options.scenario === undefined ? scenarios : [scenarioNamed(options.scenario)];
const isNarrowed = options.scenario !== undefined || options.point !== undefined;
const seed = chooseSeed(options.seed ?? process.env.HOLDFAST_CRASH_SEED);
const report = startReport();

/** How many cases of each scenario are killed a second time: at so many points first, and at so many afterwards. */
const SAMPLE = { first: 4, again: 20 };

try {
  const server = await startPostgres();
  process.env[TEST_URL] = server.url;
  for (const kind of ["sqlite", "postgres"] as const) if (wants(kind)) await onDatabase(kind);
  if (wantsPart("mutations") && options.database === undefined) await mutations(server.url);
  await server.stop();
} catch (error) {
  console.error(error);
  process.exit(2);
}
console.log(
  report.isRed ? "RED: a promise of the gateway was broken." : "Green: every promise of the gateway was kept.",
);
process.exit(report.isRed ? 1 : 0);

function wants(kind: Database["kind"]): boolean {
  return options.database === undefined ? options.part !== "mutations" : options.database === kind;
}

/** What was asked for; everything unless something was, and only the matrix when one scenario or point was. */
function wantsPart(part: string): boolean {
  return options.part === undefined ? !isNarrowed || part === "matrix" : options.part === part;
}

async function onDatabase(kind: Database["kind"]): Promise<void> {
  const site = await openSite(kind);
  try {
    if (wantsPart("matrix")) await matrix(site);
    if (wantsPart("again")) await again(site, randomFrom(seed));
    if (wantsPart("late")) await late(site);
    if (kind === "postgres" && wantsPart("leases")) await leases(site);
    if (kind === "postgres" && wantsPart("sleep")) await sleep(site);
  } finally {
    await site.close();
  }
}

async function matrix(site: Site): Promise<void> {
  const { kind } = site;
  if (options.point !== undefined) {
    const kills = [options.point];
    for (const scenario of chosen) {
      report.line(kind, scenario.name, tallied(await runCases([{ scenario, kills }], site)));
    }
    return;
  }
  const undisturbed = await casesOf(chosen, (cases) => runCases(cases, site));
  const whole = newTally();
  for (const scenario of chosen) {
    const first = undisturbed.filter(({ of }) => of.scenario === scenario);
    const results = [...first, ...(await runCases(killedAtEveryPoint(first), site))];
    report.line(kind, scenario.name, tallied(results));
    count(whole, results);
  }
  if (chosen.length > 1) report.line(kind, "all scenarios", whole);
}

/** A sample of the points, and of those that the next process passes. */
async function again(site: Site, random: Random): Promise<void> {
  const once = chosen.filter(({ first }) => first === undefined);
  const undisturbed = await casesOf(once, (cases) => runCases(cases, site));
  for (const { of, points } of undisturbed) {
    const first = random.some(points, SAMPLE.first);
    const cases = await killedAgain(of.scenario, first, (each) => runCases(each, site));
    const results = await runCases(random.some(cases, SAMPLE.again), site);
    report.line(site.kind, `${of.scenario.name}, killed again while recovering (seed ${seed})`, tallied(results));
  }
}

async function late(site: Site): Promise<void> {
  for (const when of lateEnds) {
    const red = [...(await endsLate(site, when))];
    report.line(site.kind, `a plugin of a killed gateway ends ${when}`, { cases: 1, notReached: 0, red });
  }
}

async function leases(site: Site): Promise<void> {
  const lost = { "while the plugin runs": lostWhileRunning, "before the commit": lostBeforeCommit };
  for (const [when, play] of Object.entries(lost)) {
    const red = [...(await play(site))];
    report.line(site.kind, `a lease is lost ${when}`, { cases: 1, notReached: 0, red });
  }
}

async function sleep(site: Site): Promise<void> {
  for (const scenario of [workedExample, orderPipeline]) {
    const undisturbed = await casesOf([scenario], (cases) => runCases(cases, site));
    const results = await runCases(asleepAtEveryPoint(undisturbed), site);
    report.line(site.kind, `${scenario.name}, asleep past the lease`, tallied(results));
  }
}

async function mutations(url: string): Promise<void> {
  for (const { name, noticed, problem } of await checkMutations(url)) {
    report.line("mutation", name, { cases: 1, notReached: 0, red: problem === undefined ? [] : [problem] });
    if (noticed !== undefined) console.log(`      noticed: ${noticed}`);
  }
}
