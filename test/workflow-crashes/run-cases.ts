// Cases of the matrix of workflows: a process is killed at a point, another one is started on the same database, and what both did
// is compared with what one does that is left alone.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonMap } from "../../src/contracts/json.ts";
import { inParallel } from "../../src/testing/in-parallel.ts";
import { query } from "../postgres.ts";
import type { Case, CaseResult } from "../survives-a-crash/case.ts";
import { type Database, PATIENCE_MS } from "../survives-a-crash/database.ts";
import { startProgram } from "../survives-a-crash/start-child.ts";
import { effectsFile } from "./effects-file.ts";
import type { Variant, WorkflowOrder } from "./order.ts";
import { expectedEffects } from "./voyage.ts";

export type Voyage = { readonly name: string; readonly variant: Variant; readonly items: number };

export function voyageOf(variant: Variant, items: number): Voyage {
  return { name: `a voyage with ${items} items that ${variant}`, variant, items };
}

/** `url`: of a PostgreSQL; SQLite unless given. */
export type Site = { readonly url?: string };

/** Most of a case is waiting for a process to start or for the disk. */
const AT_ONCE = 3;

const program = new URL("child.ts", import.meta.url);

export async function runCases(cases: readonly Case<Voyage>[], site: Site): Promise<readonly CaseResult<Voyage>[]> {
  const results: CaseResult<Voyage>[] = [];
  await inParallel(cases, AT_ONCE, async (each, index) => {
    results[index] = await runCase(each, site);
  });
  return results;
}

async function runCase(of: Case<Voyage>, { url }: Site): Promise<CaseResult<Voyage>> {
  const { scenario, kills } = of;
  const folder = await mkdtemp(join(tmpdir(), "holdfast-workflows-"));
  const schema = `crash_${randomBytes(6).toString("hex")}`;
  const database: Database =
    url === undefined ? { kind: "sqlite", path: join(folder, "crash.db") } : { kind: "postgres", url, schema };
  const { variant, items } = scenario;
  const order: WorkflowOrder = {
    ...{ database, variant, items },
    ...{ effects: join(folder, "effects"), record: join(folder, "record") },
  };
  const problems: string[] = [];
  let reached = 0;
  try {
    for (const at of kills) {
      const { killedAt, problems: own } = await startProgram(program, { ...order, at }).ended(PATIENCE_MS);
      problems.push(...own);
      if (killedAt !== undefined) reached++;
    }
    const last = await startProgram(program, order).ended(PATIENCE_MS);
    problems.push(...last.problems, ...check(order));
    return { of, problems, wasReached: reached === kills.length, points: last.points };
  } catch (error) {
    return { of, problems: [...problems, String(error)], wasReached: false, points: [] };
  } finally {
    await rm(folder, { recursive: true, force: true });
    if (url !== undefined) await query(url, `drop schema if exists ${schema} cascade`);
  }
}

/** What a run of the same voyage has come to first: others have to come to the same. */
const digests = new Map<string, string>();

/** A sentence for everything that is not as it must be. */
function check({ variant, items, effects, record }: WorkflowOrder): string[] {
  if (!existsSync(record)) return ["The run has left no record."];
  const found = JSON.parse(readFileSync(record, "utf8")) as JsonMap;
  const digest = digestOf(found);
  const voyage = `${variant} ${items}`;
  const wanted = digests.get(voyage) ?? digest;
  digests.set(voyage, wanted);
  const status = variant === "fails" ? "failed" : "succeeded";
  return [
    ...(found.status === status ? [] : [`The run is ${String(found.status)}: ${JSON.stringify(found.error)}`]),
    ...(digest === wanted ? [] : [`The record is another one than before: ${differing(digest, wanted)}`]),
    ...checkEffects(effects, expectedEffects(variant, items)),
  ];
}

const UNTOLD: ReadonlySet<string> = new Set(["started_at", "ended_at", "until", "replay"]);
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A record as text, without ids and times. */
function digestOf(record: JsonMap): string {
  const told = (key: string, value: unknown) => {
    if (key === "_rollback") return inOneOrder(value as readonly Undone[]);
    return UNTOLD.has(key) ? undefined : value;
  };
  return JSON.stringify(record, told).replaceAll(ID, "<id>");
}

type Undone = { readonly path: string };

/** Parts that run beside each other end in any order, and are undone in the opposite one. */
function inOneOrder(undone: readonly Undone[]): readonly Undone[] {
  const topOf = ({ path }: Undone) => path.split("/", 1)[0];
  const tops = [...new Set(undone.map(topOf))];
  return tops.flatMap((top) =>
    undone.filter((each) => topOf(each) === top).sort((one, other) => (one.path < other.path ? -1 : 1)),
  );
}

function differing(one: string, other: string): string {
  const at = [...one].findIndex((letter, index) => letter !== other[index]);
  return [one, other].map((each) => each.slice(Math.max(0, at - 100), at + 200)).join("  instead of  ");
}

/** What has an effect stands under one key, and what cannot be repeated stands there once. */
function checkEffects(path: string, expected: readonly string[]): string[] {
  const keys = new Map<string, Set<string>>();
  const times = new Map<string, number>();
  for (const { name, key } of effectsFile(path).read()) {
    keys.set(name, (keys.get(name) ?? new Set()).add(key));
    times.set(name, (times.get(name) ?? 0) + 1);
  }
  const missing = expected.filter((name) => !keys.has(name));
  const known = new Set(expected);
  const unasked = [...keys.keys()].filter((name) => !known.has(name));
  const twice = [...keys].filter(([, each]) => each.size !== 1).map(([name]) => name);
  const repeated = ["note", "unnote"].filter((name) => (times.get(name) ?? 0) > 1);
  return [
    ...missing.map((name) => `"${name}" has no effect.`),
    ...unasked.map((name) => `"${name}" has an effect.`),
    ...twice.map((name) => `"${name}" has an effect under several keys.`),
    ...repeated.map((name) => `"${name}" was done twice.`),
  ];
}
