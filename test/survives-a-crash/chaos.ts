// Chaos: four workers, two hundred threads; workers are killed and connections cut at random while all of it goes on.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createHoldfast, type Holdfast } from "../../src/holdfast.ts";
import type { EffectLedger } from "../../src/testing/effect-ledger.ts";
import { inParallel } from "../../src/testing/in-parallel.ts";
import { type LedgerClient, openEffectLedger } from "../../src/testing/ledger-client.ts";
import type { Random } from "../../src/testing/random.ts";
import type { Child } from "../../src/testing/start-child.ts";
import { query } from "../postgres.ts";
import { checkAudit } from "./check-audit.ts";
import { checkScenario } from "./check-scenario.ts";
import { backendOf, type Database, PATIENCE_MS, SECRET_KEY } from "./database.ts";
import { manyThreads } from "./scenarios/many-threads.ts";
import { startChild } from "./start-child.ts";

export type ChaosOptions = { readonly workers: number; readonly threads: number; readonly forMs: number };

export type ChaosReport = {
  readonly kills: number;
  readonly cuts: number;
  readonly unknown: number;
  readonly problems: readonly string[];
};

/** What is told of a process that we have killed. */
const KILLED = "It ended unasked (SIGKILL).";

/** However long the chaos lasts, afterwards everything has to come to its end within this time. */
const CALM_MS = 90_000;

export async function runChaos(
  url: string,
  ledger: EffectLedger,
  random: Random,
  { workers, threads, forMs }: ChaosOptions,
): Promise<ChaosReport> {
  const schema = `chaos_${randomBytes(6).toString("hex")}`;
  // Its connections have a name of their own, so that nobody else's are cut.
  const named = new URL(url);
  named.searchParams.set("application_name", schema);
  const database: Database = { kind: "postgres", url: named.href, schema };
  const world = { ledger: openEffectLedger(ledger.url), reached: () => {} };
  const agents = manyThreads.agents(world);
  const client = await createHoldfast({ backend: backendOf(database), agents, runs: false, secretKey: SECRET_KEY });
  const everybody: Child[] = [];
  const start = () => {
    const child = startChild({ database, ledger: ledger.url, quiet: true });
    everybody.push(child);
    return child;
  };
  const alive = Array.from({ length: workers }, start);
  const names = Array.from({ length: threads }, (_, index) => `chaos-${index}`);
  const problems: string[] = [];
  const played = playAll(names, client, world.ledger, () => random.below(forMs)).catch((error: unknown) => {
    problems.push(String(error));
  });
  const { kills, cuts } = await rage(database, alive, start, random, Date.now() + forMs);
  const isOver = await Promise.race([played.then(() => true), sleep(CALM_MS, false)]);
  if (!isOver) problems.push("not every thread came to its end");
  for (const child of alive) child.finish();
  for (const child of everybody) {
    const { problems: told } = await child.ended(PATIENCE_MS);
    const isKilled = !alive.includes(child);
    problems.push(...told.filter((problem) => !isAboutConnection(problem) && !(isKilled && problem === KILLED)));
  }
  await inParallel(names, 4, async (name) => {
    problems.push(...(await checkScenario(manyThreads, name, { holdfast: client, database, ledger })));
  });
  problems.push(...(await checkAudit(client)));
  const unknown = (await client.calls.unknown({ limit: threads * 3 })).length;
  await client.close();
  await query(url, `drop schema if exists ${schema} cascade`);
  return { kills, cuts, unknown, problems };
}

/** Kills workers, which are replaced at once, and cuts connections, until the time is over. */
async function rage(database: Database, alive: Child[], start: () => Child, random: Random, until: number) {
  let kills = 0;
  let cuts = 0;
  while (Date.now() < until && database.kind === "postgres") {
    await sleep(200 + random.below(500));
    if (random.below(2) === 0) {
      const index = random.below(alive.length);
      alive[index]?.signal("SIGKILL");
      alive[index] = start();
      kills++;
    } else {
      // Any of them: those of the workers and those of the client.
      const cut = await query(
        database.url,
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = $1 and pid <> pg_backend_pid() order by random() limit 3`,
        [database.schema],
      );
      cuts += cut.length;
    }
  }
  return { kills, cuts };
}

/** All of them, but not at once: there has to be something to disturb until the end. */
async function playAll(names: readonly string[], holdfast: Holdfast, ledger: LedgerClient, delay: () => number) {
  await inParallel(names, names.length, async (name) => {
    await sleep(delay());
    const stage = { holdfast, ledger, key: (thread: string) => `${name}/${thread}` };
    // What fails for want of a connection is begun again from the beginning, as any client would.
    for (;;) {
      try {
        return await manyThreads.play(stage);
      } catch (error) {
        if (!isAboutConnection(String(error))) throw error;
      }
    }
  });
}

function isAboutConnection(problem: string): boolean {
  return /database_unavailable|database_closed/.test(problem);
}
