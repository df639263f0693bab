// What a suspended run needs when it goes on and its record does not tell: how it takes failures, and what has to be undone
// inside its steps. It stands in the `replay` of the record.
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import type { WorkflowRun } from "../../contracts/workflows/run-record.ts";
import { undoOf } from "../../contracts/workflows/step-options.ts";
import { below, parentOf, ROOT } from "../machine/path.ts";
import { type Body, bodyOf, stepAt, type Working } from "../machine/working.ts";

export function keptForResume(working: Working, bodies: ReadonlyMap<string, Body>): JsonMap {
  const { continueOnError } = working;
  const undoable = [...working.undoable];
  const isInside = undoable.some((path) => parentOf(path) !== ROOT);
  return snapshotMap({
    ...(continueOnError && { continue_on_error: true }),
    ...(isInside && { undo: { undoable, bodies: bodiesInside(working, bodies) } }),
  });
}

/** What is known inside of those steps in which something can be undone; of the steps themselves what their record lacks. */
function bodiesInside(working: Working, bodies: ReadonlyMap<string, Body>): object {
  const tops = new Set([...working.undoable].filter((path) => parentOf(path) !== ROOT).map(topOf));
  const inside = [...bodies].filter(([path]) => parentOf(path) !== ROOT && tops.has(topOf(path)));
  const parts = [...tops].map((path) => {
    const { items, chosen } = bodyOf(working, path);
    return [path, { items, chosen }] as const;
  });
  return Object.fromEntries([...parts, ...inside]);
}

function topOf(path: string): string {
  return path.split("/", 1)[0] ?? path;
}

/** The bodies of a run, with what was kept of the insides of its steps. */
export function withKeptBodies({ replay }: WorkflowRun, bodies: ReadonlyMap<string, Body>): Map<string, Body> {
  const kept = snapshotMap(snapshotMap(snapshotMap(replay).undo).bodies);
  const all = new Map(bodies);
  for (const [path, body] of Object.entries(kept))
    if (isMap(body)) all.set(path, { ...all.get(path), ...(body as Body) });
  return all;
}

/** The steps that can be undone, in the order in which they ended; `waited` is the position of the step that the run waited in. */
export function undoableOf({ replay }: WorkflowRun, working: Working, waited: number): string[] {
  const kept = snapshotMap(snapshotMap(replay).undo).undoable;
  const before = Array.isArray(kept) ? kept.map(String) : positionsUpTo(waited - 1);
  return [...before, below(ROOT, waited)].filter(
    (path) => bodyOf(working, path).status === "succeeded" && undoOf(stepAt(working, path)) !== undefined,
  );
}

function positionsUpTo(last: number): string[] {
  return Array.from({ length: last + 1 }, (_, position) => below(ROOT, position));
}

/** Whether the steps of the run go on behind one that failed, as it was begun. */
export function goesOnBehindFailures({ replay }: WorkflowRun): unknown {
  return snapshotMap(replay).continue_on_error;
}
