// Crash-tests a user's own agents and tools: a real process is killed at every point that the scenario passes, another one
// goes on, and what they made of it is held against what the scenario comes to when nobody disturbs it.
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { holdfastError } from "../contracts/error.ts";
import { compareEndings, countEffects, effectNames, unknownCalls } from "./compare-endings.ts";
import { type CaseSetting, type CrashCase, runCase } from "./crash-case.ts";
import { inParallel } from "./in-parallel.ts";
import { chooseSeed, randomFrom } from "./random.ts";

export type CrashTestOptions = {
  /** What the module exports the scenario as; `default` unless given. */
  readonly scenario?: string;
  /** At most so many of the points, drawn at random; all of them unless given. */
  readonly most?: number;
  /** Draws the same points again; HOLDFAST_CRASH_SEED or any unless given. */
  readonly seed?: number;
  /** Only at this point, to have a violation again, or at these: those that match. */
  readonly at?: string | readonly string[] | RegExp;
  /** Cases at the same time; as many as there are cores, and at most 4, unless given. */
  readonly concurrency?: number;
  /** The URL of a PostgreSQL database; each case has a schema of its own there. A file in a temporary folder unless given. */
  readonly database?: string;
  /** True when the scenario itself does not settle in which order its messages are sent. */
  readonly anyOrder?: boolean;
  /** How long one process may take; 30 seconds unless given. */
  readonly patienceMs?: number;
  /** Flags for Node, such as those with which it reads the scenario. */
  readonly execArgv?: readonly string[];
};

export type CrashReport = {
  /** The points that the scenario passes when nobody disturbs it. */
  readonly points: readonly string[];
  /** The points at which a process was killed. */
  readonly crashes: readonly string[];
  /** How often each effect happened: undisturbed, and at least and at most after a crash. */
  readonly effects: Readonly<Record<string, EffectCount>>;
  /** A sentence for every call of which nobody could tell what it did. That is allowed, and seen by the model and by you. */
  readonly unknown: readonly string[];
  /** A sentence for everything that was not as promised. Empty: all is well. */
  readonly violations: readonly string[];
  /** What drew the points. */
  readonly seed: number;
};

export type EffectCount = { readonly undisturbed: number; readonly fewest: number; readonly most: number };

/**
 * Runs the scenario of a module once undisturbed, then once for every point that it passed: killed there with SIGKILL,
 * and run again. Throws `scenario_failed` when it does not even come to its end undisturbed, and `invalid_argument` when
 * there is no point to kill it at.
 */
export async function crashTest(module: URL | string, options: CrashTestOptions = {}): Promise<CrashReport> {
  const setting: CaseSetting = {
    module: addressOf(module),
    exported: options.scenario ?? "default",
    database: options.database,
    execArgv: options.execArgv ?? [],
    patienceMs: options.patienceMs ?? 30_000,
  };
  const undisturbed = await runCase(undefined, setting);
  if (undisturbed.problems.length > 0) throw holdfastError("scenario_failed", undisturbed.problems.join("\n"));
  const seed = options.seed ?? chooseSeed();
  const report = (cases: readonly CrashCase[]) => reportOf(undisturbed, cases, { ...options, seed });
  // What is wrong without a crash is found again after each of them.
  if (report([]).violations.length > 0) return report([]);
  const { points } = undisturbed;
  const drawn = drawPoints(points, seed, options);
  if (drawn.length === 0) {
    // A crash test without a crash would be green whatever happens.
    throw holdfastError("invalid_argument", `at and most leave none of the points: ${points.join(", ")}.`);
  }
  if (options.most !== undefined && options.seed === undefined) {
    console.log(`crashTest: ${drawn.length} of ${points.length} points, seed ${seed}`);
  }
  const cases: CrashCase[] = [];
  await inParallel(drawn, options.concurrency ?? Math.min(4, availableParallelism()), async (at, index) => {
    cases[index] = await runCase(at, setting);
  });
  return report(cases);
}

function addressOf(module: URL | string): string {
  const isAddress = module instanceof URL || module.startsWith("file:");
  return isAddress ? String(module) : pathToFileURL(resolve(module)).href;
}

/** In the order in which they are passed. */
function drawPoints(points: readonly string[], seed: number, { at, most }: CrashTestOptions): readonly string[] {
  if (at instanceof RegExp) return points.filter((point) => point.search(at) >= 0);
  if (at !== undefined) return points.filter((point) => [at].flat().includes(point));
  if (most === undefined) return points;
  const drawn = new Set(randomFrom(seed).some(points, most));
  return points.filter((point) => drawn.has(point));
}

function reportOf(
  undisturbed: CrashCase,
  cases: readonly CrashCase[],
  { seed, most, anyOrder = false }: CrashTestOptions & { readonly seed: number },
): CrashReport {
  const drawnBy = most === undefined ? "" : ` (seed ${seed})`;
  return {
    points: undisturbed.points,
    crashes: cases.flatMap(({ at, wasKilled }) => (wasKilled && at !== undefined ? [at] : [])),
    effects: countAll(undisturbed, cases),
    unknown: cases.flatMap((each) =>
      unknownCalls(each.ending).map(({ tool_name }) => `${titleOf(each)}: a call of ${tool_name} is unknown`),
    ),
    violations: [undisturbed, ...cases].flatMap((each) => {
      const { problems, violations, ending } = each;
      const compared = problems.length > 0 ? [] : compareEndings(undisturbed.ending, ending, { anyOrder });
      return [...problems, ...compared, ...violations].map((found) => `${titleOf(each)}: ${found}${drawnBy}`);
    }),
    seed,
  };
}

function titleOf({ at }: CrashCase): string {
  return at === undefined ? "undisturbed" : `killed ${at}`;
}

function countAll(undisturbed: CrashCase, cases: readonly CrashCase[]): CrashReport["effects"] {
  const endings = [undisturbed, ...cases].map(({ ending }) => ending);
  return Object.fromEntries(
    effectNames(endings).map((name) => {
      const counts = endings.map((ending) => countEffects(ending, name));
      return [name, { undisturbed: counts[0] ?? 0, fewest: Math.min(...counts), most: Math.max(...counts) }];
    }),
  );
}
