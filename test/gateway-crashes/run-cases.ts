// Runs cases of the gateway's matrix: a process is killed at a point, another one takes over, and what they made of it
// together is checked. On SQLite the second one is started afterwards. On PostgreSQL it was there before, stopped meanwhile.
import { inParallel } from "../../src/testing/in-parallel.ts";
import type { Child } from "../../src/testing/start-child.ts";
import type { Case, CaseResult } from "../survives-a-crash/case.ts";
import { within } from "../survives-a-crash/within.ts";
import { checkQueue } from "./check-queue.ts";
import type { GatewayScenario } from "./scenario.ts";
import { openStage, PATIENCE_MS, type Site, type Stage } from "./site.ts";

/** Most of a case is waiting for a process to start or for the disk. */
const AT_ONCE = 3;

type GatewayCase = Case<GatewayScenario>;
type GatewayResult = CaseResult<GatewayScenario>;

export async function runCases(cases: readonly GatewayCase[], site: Site): Promise<readonly GatewayResult[]> {
  const results: GatewayResult[] = [];
  await inParallel(cases, AT_ONCE, async (each, index) => {
    results[index] = await runCase(each, site);
  });
  return results;
}

async function runCase(of: GatewayCase, site: Site): Promise<GatewayResult> {
  const stage = await openStage(site, of.scenario);
  try {
    const { problems, ...played } = await playCase(of, stage, site);
    // What goes wrong in a process may be said many times.
    return { of, problems: [...new Set(problems)], ...played };
  } catch (error) {
    return { of, problems: [String(error)], wasReached: false, points: [] };
  } finally {
    await stage.clear();
  }
}

async function playCase(
  { scenario, kills, pause }: GatewayCase,
  stage: Stage,
  site: Site,
): Promise<Omit<GatewayResult, "of">> {
  const points = [...(scenario.first ?? []), ...kills];
  const other = site.kind === "postgres" && points.length > 0 ? await startStopped(stage, scenario) : undefined;
  const problems: string[] = [];
  let isReached = true;
  for (const at of points) {
    const { killedAt, problems: own } = await stage.start({ at }).ended(PATIENCE_MS);
    problems.push(...own);
    isReached &&= killedAt !== undefined;
    problems.push(...((await stage.read(async (reading) => scenario.always?.(reading))) ?? []));
  }
  const sleeper = pause === undefined ? undefined : await startSleeping(stage, pause);
  other?.signal("SIGCONT");
  const last = await (other ?? stage.start({})).ended(PATIENCE_MS);
  problems.push(...last.problems);
  if (sleeper) {
    isReached &&= sleeper.told.some(({ kind }) => kind === "paused");
    problems.push(...(await wokenUp(sleeper)));
  }
  const crashes = points.length + (sleeper ? 1 : 0);
  problems.push(...(await checkStage(stage, scenario, site, crashes, sleeper !== undefined)));
  return { problems, wasReached: isReached, points: last.points };
}

/** A gateway that was open before, and does nothing until it is continued. */
async function startStopped(stage: Stage, { startsByItself = false }: GatewayScenario): Promise<Child> {
  const at = startsByItself ? "before open #1" : "before play #1";
  const child = stage.start({ at, fate: "paused" });
  const isStopped = await within(PATIENCE_MS, child.heard("paused"), "The other process was never ready.");
  if (!isStopped) throw new Error(`The other process did not start: ${(await child.ended(0)).problems}`);
  return child;
}

async function startSleeping(stage: Stage, at: string): Promise<Child> {
  const child = stage.start({ at, fate: "paused" });
  await within(PATIENCE_MS, child.heard("paused"), `It never came to: ${at}`);
  return child;
}

/** Its leases are over, and its work was done by another process. */
async function wokenUp(sleeper: Child): Promise<readonly string[]> {
  sleeper.signal("SIGCONT");
  return (await sleeper.ended(PATIENCE_MS)).problems;
}

export async function checkStage(
  stage: Stage,
  scenario: GatewayScenario,
  { pages }: Site,
  crashes: number,
  hasSlept = false,
): Promise<readonly string[]> {
  const { workspaces } = stage;
  return await stage.read(async (reading) => [
    ...(await checkQueue(reading, { isInOrder: scenario.isInOrder === true })),
    ...((await scenario.always?.(reading)) ?? []),
    ...(await scenario.check({
      ...{ reading, workspaces, crashes, hasSlept },
      executions: stage.executions(),
      pageRequests: pages.requests(stage.name),
    })),
  ]);
}
