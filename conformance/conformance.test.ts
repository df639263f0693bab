import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { operations } from "./operations.ts";
import {
  closingLines,
  type Deviation,
  deviations,
  hasFailed,
  notYet,
  type OperationReport,
  runFolder,
} from "./runner.ts";

const vectors = fileURLToPath(new URL("./vectors", import.meta.url));
const reports = await runFolder(vectors);
const core = reports.filter(({ level }) => level === "core");

const namesOf = ({ area, op }: OperationReport) => [op, `${area}/${op}`];
const linesOf = (from: OperationReport[], verdict: string) =>
  from.flatMap(({ op, cases }) =>
    cases.flatMap((each) => (each.verdict === verdict ? [`${op}: ${each.name}: ${each.difference}`] : [])),
  );

describe("the golden vectors", () => {
  it("hold for every core operation", () => {
    expect(linesOf(core, "failed")).toEqual([]);
  });

  it("miss no operation but those listed as not yet there", () => {
    expect(reports.filter(({ missing }) => missing === "unmapped").map(({ op }) => op)).toEqual([]);
  });

  it("know every operation of the table", () => {
    const known = new Set(reports.flatMap(namesOf));
    expect(Object.keys(operations).filter((name) => !known.has(name))).toEqual([]);
  });
});

describe("the list of operations that are not yet there", () => {
  it("names only operations of the vectors that are not mapped", () => {
    const missing = new Set(reports.filter((report) => report.missing).flatMap(namesOf));
    expect(notYet.filter((name) => !missing.has(name))).toEqual([]);
    expect(new Set(notYet).size).toBe(notYet.length);
  });
});

describe("the list of deviations", () => {
  it("names only cases that are really answered differently, each with a reason", () => {
    const deviating = linesOf(reports, "deviates");
    const isStale = (listed: Deviation) => !deviating.some((line) => line.startsWith(`${listed.op}: ${listed.case}: `));
    expect(deviations.filter(isStale)).toEqual([]);
    expect(deviations.filter(({ reason }) => reason.trim() === "")).toEqual([]);
  });

  it("holds less than three in a hundred of the core cases without a quirk", () => {
    const judged = core
      .flatMap(({ cases }) => cases)
      .filter(({ verdict }) => verdict !== "agrees" && verdict !== "differs");
    expect(judged.filter(({ verdict }) => verdict === "deviates").length).toBeLessThan(judged.length * 0.03);
  });
});

describe("the verdict on a run", () => {
  const passed = { name: "fine", verdict: "passed" } as const;
  const failed = { name: "broken", verdict: "failed", difference: "a: expected 1, got 2" } as const;
  const quirk = { name: "odd", verdict: "differs" } as const;
  const report = (given: Partial<OperationReport>): OperationReport => ({
    op: "noun.verb",
    area: "runtime",
    level: "core",
    cases: [passed],
    ...given,
  });

  it("is failed by a core case that fails, or a core operation that is missing without being listed", () => {
    expect(hasFailed([report({ cases: [passed, failed] })])).toBe(true);
    expect(hasFailed([report({ missing: "unmapped", cases: [] })])).toBe(true);
  });

  it("is not failed by anything else", () => {
    expect(hasFailed([report({}), report({ level: "extended", cases: [failed] })])).toBe(false);
    expect(hasFailed([report({ missing: "not_yet", cases: [] })])).toBe(false);
    expect(hasFailed([report({ level: "extended", missing: "unmapped", cases: [] })])).toBe(false);
    expect(hasFailed([report({ cases: [quirk, { name: "ours", verdict: "deviates" }] })])).toBe(false);
  });

  it("closes with three lines", () => {
    const lines = closingLines([
      report({ cases: [passed, failed, quirk, { name: "ours", verdict: "deviates" }] }),
      report({ missing: "not_yet", cases: [] }),
      report({ level: "extended", cases: [passed, { name: "odd", verdict: "agrees" }] }),
    ]);
    expect(lines).toEqual([
      "core: 1 passed, 1 failed, 1 deviate, 1 missing",
      "extended: 1 passed, 0 failed, 0 deviate, 0 missing",
      "quirk: 1 agree, 1 differ",
    ]);
  });
});
