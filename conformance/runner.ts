// Runs vector files against the operation table and counts what came out; printing is left to run.ts.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type Case, judge, type Outcome } from "./compare.ts";
import listedDeviations from "./deviations.json" with { type: "json" };
import notYetNames from "./not-yet.json" with { type: "json" };
import { operations } from "./operations.ts";
import levels from "./vectors/levels.json" with { type: "json" };

/** A case that we answer differently on purpose, and why. */
export type Deviation = { op: string; case: string; reason: string };

export const deviations: readonly Deviation[] = listedDeviations;

/** Operations whose subject does not exist yet. */
export const notYet: readonly string[] = notYetNames;

export type Level = "core" | "extended";

/** What became of one case. Cases with a quirk only agree or differ; they never count as passed or failed. */
export type CaseReport = {
  name: string;
  verdict: "passed" | "failed" | "deviates" | "agrees" | "differs";
  difference?: string;
};

/** What became of one vector file. An operation that is not mapped has no cases to report. */
export type OperationReport = {
  op: string;
  area: string;
  level: Level;
  missing?: "not_yet" | "unmapped";
  cases: CaseReport[];
};

export type Filter = { level?: Level; op?: string };

type VectorFile = { op: string; cases: Case[] };
type Operation = (input: never) => unknown;

/** Runs every vector file below a folder, in order of their paths. */
export async function runFolder(folder: string, filter: Filter = {}): Promise<OperationReport[]> {
  const reports: OperationReport[] = [];
  for (const path of vectorFiles(folder)) {
    const file = JSON.parse(readFileSync(path, "utf8")) as VectorFile;
    const area = basename(dirname(path));
    const level = levelOf(area, file.op);
    if (filter.op !== undefined && filter.op !== file.op) continue;
    if (filter.level !== undefined && filter.level !== level) continue;
    reports.push({ op: file.op, area, level, ...(await runOperation(file, area)) });
  }
  return reports;
}

/** True when the project must answer for it: a core case failed, or a core operation is missing without being listed. */
export function hasFailed(reports: readonly OperationReport[]): boolean {
  return reports.some(
    ({ level, missing, cases }) =>
      level === "core" && (missing === "unmapped" || cases.some(({ verdict }) => verdict === "failed")),
  );
}

/** The three lines that close a run. */
export function closingLines(reports: readonly OperationReport[]): string[] {
  const all = reports.flatMap(({ cases }) => cases);
  const group = (level: Level) => {
    const own = reports.filter((report) => report.level === level);
    const cases = own.flatMap((report) => report.cases);
    const missing = own.filter((report) => report.missing).length;
    const [passed, failed, deviate] = (["passed", "failed", "deviates"] as const).map((each) => count(cases, each));
    return `${level}: ${passed} passed, ${failed} failed, ${deviate} deviate, ${missing} missing`;
  };
  return [group("core"), group("extended"), `quirk: ${count(all, "agrees")} agree, ${count(all, "differs")} differ`];
}

export function count(cases: readonly CaseReport[], verdict: CaseReport["verdict"]): number {
  return cases.filter((report) => report.verdict === verdict).length;
}

async function runOperation(
  { op, cases }: VectorFile,
  area: string,
): Promise<Pick<OperationReport, "missing" | "cases">> {
  const operation = find(area, op);
  if (!operation) return { missing: isNotYet(area, op) ? "not_yet" : "unmapped", cases: [] };
  const reports: CaseReport[] = [];
  for (const vector of cases) reports.push(await runCase(op, vector, operation));
  return { cases: reports };
}

async function runCase(op: string, vector: Case, operation: Operation): Promise<CaseReport> {
  const wrong = judge(vector, await outcomeOf(operation, freeze(vector.input)));
  return {
    name: vector.name,
    verdict: verdictOf(op, vector, wrong),
    ...(wrong !== undefined && { difference: wrong }),
  };
}

async function outcomeOf(operation: Operation, input: unknown): Promise<Outcome> {
  try {
    return { value: await operation(input as never) };
  } catch (thrown) {
    return { thrown };
  }
}

function verdictOf(op: string, vector: Case, wrong: string | undefined): CaseReport["verdict"] {
  if (vector.quirk) return wrong === undefined ? "agrees" : "differs";
  if (wrong === undefined) return "passed";
  return deviations.some((listed) => listed.op === op && listed.case === vector.name) ? "deviates" : "failed";
}

// Two areas may give one name to different operations; then the table's key carries the area.
function find(area: string, op: string): Operation | undefined {
  const table: Readonly<Record<string, Operation>> = operations;
  const key = [`${area}/${op}`, op].find((name) => Object.hasOwn(table, name));
  return key === undefined ? undefined : table[key];
}

function isNotYet(area: string, op: string): boolean {
  return notYet.includes(op) || notYet.includes(`${area}/${op}`);
}

function levelOf(area: string, op: string): Level {
  const extended: Readonly<Record<string, readonly string[]>> = levels.extended;
  return extended[area]?.includes(op) ? "extended" : "core";
}

function vectorFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".json") && basename(path) !== "levels.json")
    .sort()
    .map((path) => resolve(folder, path));
}

// An operation that changes its input fails here instead of spoiling what it returned.
function freeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  for (const item of Object.values(value)) freeze(item);
  return Object.freeze(value);
}
