// What a step that is opened anew, in a run that was reopened, keeps of its parts.
import type { Json, JsonMap } from "../../contracts/json.ts";
import { itemsOf, type OpenParts } from "./open-parts.ts";
import { below } from "./path.ts";
import { bodyOf, branchesOf, kindOf, lengthOf, stepsAt, type Working } from "./working.ts";

/** True for a step that is not carried out again. */
export function hasSucceeded(working: Working, path: string): boolean {
  return bodyOf(working, path).status === "succeeded";
}

/** The first part that is carried out. Those before it that have succeeded are passed over at once: there may be very many. */
export function firstPart(working: Working, path: string, { first, count, aggregator }: OpenParts): number {
  let part = first;
  while (part < count && (part === aggregator || isKept(working, below(path, part)))) part++;
  return part;
}

function isKept(working: Working, part: string): boolean {
  if (bodyOf(working, part).error) return false;
  const count = lengthOf(working, part);
  // The last one first: a part that never began is known by it at once.
  for (let at = count - 1; at >= 0; at--) if (!hasSucceeded(working, below(part, at))) return false;
  return count > 0;
}

/**
 * Forgets what is known of those parts of a step that stand for something else since it was opened anew: an item may come from a
 * step that had failed before. Whatever they did is not undone any more. Returns the paths that are gone.
 */
export function forgetOtherParts(working: Working, path: string, before: JsonMap, resolved: JsonMap): string[] {
  const gone: string[] = [];
  const now = partsIn(working, resolved);
  for (const [position, part] of partsIn(working, before).entries()) {
    const isSame = position < now.length && JSON.stringify(part) === JSON.stringify(now[position]);
    if (!isSame) forget(working, below(path, position), gone);
  }
  if (gone.length > 0) keepUndoable(working, new Set(gone));
  return gone;
}

function keepUndoable({ undoable }: Working, gone: ReadonlySet<string>): void {
  const left = [...undoable].filter((path) => !gone.has(path));
  undoable.length = 0;
  for (const path of left) undoable.push(path);
}

/** What the parts of a step are made for. */
function partsIn(working: Working, resolved: JsonMap): readonly Json[] {
  const kind = kindOf(working, resolved);
  if (kind === "roles") return branchesOf(resolved);
  return kind === "foreach" || kind === "map" ? (itemsOf(resolved.items) ?? []) : [];
}

/** Removes what is known of a part, of its steps, and of the parts of these. */
function forget(working: Working, part: string, gone: string[]): void {
  remove(working, part, gone);
  for (const [position, step] of stepsAt(working, part).entries()) {
    const path = below(part, position);
    if (!working.bodies.has(path)) continue;
    const { resolved = step } = bodyOf(working, path);
    const parts = kindOf(working, step) === "branch" ? casesOf(step) : partsIn(working, resolved).length;
    for (let inner = 0; inner < parts; inner++) forget(working, below(path, inner), gone);
    remove(working, path, gone);
  }
}

function casesOf({ cases }: JsonMap): number {
  return Array.isArray(cases) ? cases.length + 1 : 1;
}

function remove({ bodies }: Working, path: string, gone: string[]): void {
  if (!bodies.has(path)) return;
  bodies.delete(path);
  gone.push(path);
}
