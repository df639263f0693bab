// Cases on PostgreSQL: the process that is killed or put to sleep has company. A second worker was running before, and
// after the fall of the first it alone goes on, while a client repeats what it wants from the beginning.
import { randomBytes } from "node:crypto";
import { createHoldfast, type Holdfast } from "../../src/holdfast.ts";
import type { EffectLedger } from "../../src/testing/effect-ledger.ts";
import { openEffectLedger } from "../../src/testing/ledger-client.ts";
import type { Child } from "../../src/testing/start-child.ts";
import { query } from "../postgres.ts";
import type { Case, CaseResult } from "./case.ts";
import { checkAudit } from "./check-audit.ts";
import { checkAlways, checkScenario } from "./check-scenario.ts";
import { backendOf, type Database, PATIENCE_MS, SECRET_KEY } from "./database.ts";
import type { Scenario, Stage } from "./scenario.ts";
import { definitionsOf, scenarios, special } from "./scenarios.ts";
import { startChild } from "./start-child.ts";
import { within } from "./within.ts";

/** Cases that run at the same time, each of another scenario, so that no process meddles with the threads of another. */
const AT_ONCE = 6;

export type PostgresSite = {
  readonly database: Database;
  readonly ledger: EffectLedger;
  /** Leaves work and reads, and never runs anything. */
  readonly client: Holdfast;
  /** The worker that takes over. */
  readonly second: Child;
  close(): Promise<void>;
};

export async function openPostgresSite(url: string, ledger: EffectLedger): Promise<PostgresSite> {
  const schema = `crash_${randomBytes(6).toString("hex")}`;
  const database: Database = { kind: "postgres", url, schema };
  const world = { ledger: openEffectLedger(ledger.url), reached: () => {} };
  const definitions = definitionsOf([...scenarios, ...special], world);
  const client = await createHoldfast({
    backend: backendOf(database),
    ...definitions,
    runs: false,
    secretKey: SECRET_KEY,
  });
  const second = startChild({ database, ledger: ledger.url });
  await second.heard("ready");
  return {
    database,
    ledger,
    client,
    second,
    async close() {
      second.signal("SIGCONT");
      second.finish();
      await second.ended(PATIENCE_MS);
      await client.close();
      await query(url, `drop schema if exists ${schema} cascade`);
    },
  };
}

export async function runOnPostgres(cases: readonly Case[], site: PostgresSite): Promise<readonly CaseResult[]> {
  const results = new Map<Case, CaseResult>();
  for (const group of grouped(cases)) for (const result of await runGroup(group, site)) results.set(result.of, result);
  const ended = cases.flatMap((each) => results.get(each) ?? []);
  // All of them at once: one export of everything for each would take longer and longer.
  const problems = await checkAudit(site.client);
  return problems.length === 0
    ? ended
    : ended.map((result) => ({ ...result, problems: [...result.problems, ...problems] }));
}

/** Groups in which every scenario stands once at most; those with most cases left go first. */
function grouped(cases: readonly Case[]): readonly (readonly Case[])[] {
  const left = new Map<Scenario, Case[]>();
  for (const each of cases) left.set(each.scenario, [...(left.get(each.scenario) ?? []), each]);
  const groups: Case[][] = [];
  while (left.size > 0) {
    const longest = [...left].sort(([, one], [, other]) => other.length - one.length).slice(0, AT_ONCE);
    groups.push(longest.flatMap(([, [first]]) => first ?? []));
    for (const [scenario, [, ...rest]] of longest) {
      if (rest.length > 0) left.set(scenario, rest);
      else left.delete(scenario);
    }
  }
  return groups;
}

async function runGroup(group: readonly Case[], site: PostgresSite): Promise<readonly CaseResult[]> {
  const { second } = site;
  const toldBefore = second.told.length;
  // It would take the work away from those whose fall is the subject.
  second.signal("SIGSTOP");
  const fallen = await Promise.all(group.map((each) => fall(each, site)));
  second.signal("SIGCONT");
  const results = await Promise.all(fallen.map((each) => recover(each, site)));
  const errors = second.told.slice(toldBefore).flatMap((told) => (told.kind === "error" ? [told.text] : []));
  if (errors.length === 0) return results;
  return results.map((result) => ({ ...result, problems: [...result.problems, ...errors] }));
}

type Fallen = Omit<CaseResult, "problems"> & {
  readonly problems: string[];
  readonly name: string;
  readonly sleeper: Child | undefined;
  /** What another process wants meanwhile, if it does. */
  readonly second: Promise<unknown> | undefined;
};

/** Plays the scenario until its process is dead or asleep. */
async function fall(of: Case, site: PostgresSite): Promise<Fallen> {
  const { client, database, ledger } = site;
  const { scenario, kills, pause, lists = kills.length === 0 } = of;
  const name = `case-${randomBytes(6).toString("hex")}`;
  const order = { database, ledger: ledger.url, play: { scenario: scenario.name, name } };
  const problems: string[] = [];
  let points: readonly string[] = [];
  const second = scenario.isPlayedTwice ? settled(scenario.play(stageOf(name, site))) : undefined;
  if (pause !== undefined) {
    const sleeper = startChild({ ...order, at: pause, fate: "paused" });
    const wasReached = await within(PATIENCE_MS, sleeper.heard("paused"), `Nobody fell asleep ${pause}.`);
    return { of, name, problems, points, wasReached, sleeper, second };
  }
  let reached = 0;
  for (const at of lists ? [...kills, undefined] : kills) {
    const ended = await startChild({ ...order, ...(at !== undefined && { at }) }).ended(PATIENCE_MS);
    problems.push(...ended.problems);
    points = ended.points;
    if (ended.killedAt !== undefined) reached++;
    problems.push(...(await checkAlways(scenario, name, { holdfast: client, database })));
  }
  return { of, name, problems, points, wasReached: reached === kills.length, sleeper: undefined, second };
}

/** Repeats what the client wants until it has all of it, lets a sleeper wake up to find its work done, and checks. */
async function recover(fallen: Fallen, site: PostgresSite): Promise<CaseResult> {
  const { of, name, sleeper, second, problems, points, wasReached } = fallen;
  const { client, database, ledger } = site;
  const { scenario } = of;
  try {
    await within(2 * PATIENCE_MS, scenario.play(stageOf(name, site)), "The scenario did not come to its end.");
    const thrown = await within(PATIENCE_MS, second ?? Promise.resolve(), "It came to no end for who wanted the same.");
    if (thrown !== undefined) throw thrown;
  } catch (error) {
    problems.push(String(error));
  }
  if (sleeper) {
    sleeper.signal("SIGCONT");
    problems.push(...(await sleeper.ended(PATIENCE_MS)).problems);
  }
  problems.push(...(await checkScenario(scenario, name, { holdfast: client, database, ledger })));
  return { of, problems, points, wasReached };
}

function stageOf(name: string, { client, ledger }: PostgresSite): Stage {
  return { holdfast: client, ledger: openEffectLedger(ledger.url), key: (thread) => `${name}/${thread}` };
}

/** What was thrown, if anything: nobody looks at it before the others are done. */
async function settled(promise: Promise<void>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    return error;
  }
}
