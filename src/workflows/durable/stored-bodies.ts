// What is known of the steps of a run, as rows: read when a lease begins, written with the commits that change them.
import type { StoredStep } from "../../backend/workflow-store.ts";
import type { Write } from "../../backend/write.ts";
import { emptyMap, isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { digestOfRow, NO_ROW, rowDigest, type TextDigests, textDigest } from "../../contracts/workflows/step-digest.ts";
import { undoOf } from "../../contracts/workflows/step-options.ts";
import type { Sealing } from "../../threads/secrets/sealing.ts";
import { itemsOf } from "../machine/open-parts.ts";
import { outputOfParts } from "../machine/outputs.ts";
import { ON_FAILURE, parentOf, positionOf, ROLLBACK, ROOT } from "../machine/path.ts";
import { type Body, kindOf, stepAt, type Working } from "../machine/working.ts";

/** Where the row of a path stands. That of the run itself comes before its steps. */
export type Place = { readonly parent: string; readonly position: number };

export function placeOf(path: string): Place {
  return path === ROOT ? { parent: ROOT, position: -1 } : { parent: parentOf(path), position: positionOf(path) };
}

export function pathOf({ parent, position }: Place): string {
  if (position === -1) return ROOT;
  return parent === ROOT ? String(position) : `${parent}/${position}`;
}

/** The two parts of a step's row are sealed for their own place: a row that was put in the place of another does not open. */
function aboutOpened(runId: string, path: string): string {
  return `${runId}:${path}:opened`;
}

function aboutOutcome(runId: string, path: string): string {
  return `${runId}:${path}:outcome`;
}

/** The digests of rows that no fact of a run tells of: those that it took over from another one. */
export function digestsOf(rows: readonly StoredStep[]): Readonly<Record<string, string>> {
  return Object.fromEntries(rows.map((row) => [pathOf(row), digestOfRow(row)]));
}

/** The body of a row of a run. */
export function bodyOfRow(sealing: Pick<Sealing, "open">, runId: string, row: StoredStep): Body {
  const path = pathOf(row);
  const read = (sealed: string | null, about: string): Body =>
    sealed === null ? {} : (JSON.parse(sealing.open(sealed, about)) as Body);
  const body = { ...read(row.opened, aboutOpened(runId, path)), ...read(row.outcome, aboutOutcome(runId, path)) };
  const items = body.resolved && itemsIn(body.resolved);
  return items ? { ...body, items } : body;
}

function itemsIn(resolved: JsonMap): readonly Json[] | undefined {
  const { type, items, branches } = resolved;
  const hasItems = type === "foreach" || (type === "parallel" && (branches === undefined || branches === null));
  return hasItems ? itemsOf(items) : undefined;
}

/** A step that has succeeded and whose output is made from those of the steps inside it, once that is asked for. */
export function withOutputOfParts(working: Working, path: string, body: Body): Body {
  const { status, output, resolved } = body;
  const isMade = status === "succeeded" && output === undefined && resolved !== undefined;
  if (!isMade || path === ROOT || kindOf(working, resolved) === "single") return body;
  let made: Json | undefined;
  return {
    ...body,
    get output() {
      made ??= outputOfParts(working, path);
      return made;
    },
  };
}

/** Makes the outputs of steps with parts anew, those of inner steps first. */
export function restoreOutputs(working: Working, paths: Iterable<string>): void {
  const ended = [...paths].filter((path) => {
    const body = working.bodies.get(path);
    return body?.status === "succeeded" && body.output === undefined && hasParts(path, working);
  });
  const depthOf = (path: string) => path.split("/").length;
  for (const path of ended.sort((one, other) => depthOf(other) - depthOf(one))) {
    const body = working.bodies.get(path);
    if (body) working.bodies.set(path, { ...body, output: outputOfParts(working, path) });
  }
}

/** What a commit writes of a step, and the digest of the whole row that the record log keeps. */
export type WrittenStep = { readonly write: Write; readonly digest: string };

/** The rows of a run: the part that is known when a step opens, and the part that it gets when it waits or ends. */
export class StoredBodies {
  /** The steps with their bindings expanded as they are stored, by path: each is written once, items included. */
  readonly #stored = new Map<string, JsonMap>();
  readonly #endedAs = new Map<string, number>();
  /** Of rows that may be written again. Where the digest of a part is not known, that part is written anew. */
  readonly #digests = new Map<string, TextDigests>();
  readonly #sealing: Sealing;
  readonly #runId: string;

  constructor(sealing: Sealing, runId: string) {
    this.#sealing = sealing;
    this.#runId = runId;
  }

  read(row: StoredStep): Body {
    const path = pathOf(row);
    const body = bodyOfRow(this.#sealing, this.#runId, row);
    if (row.status === "succeeded") return body;
    this.#digests.set(path, { opened: textDigest(row.opened), outcome: textDigest(row.outcome) });
    if (row.opened !== null) this.#stored.set(path, body.resolved ?? emptyMap);
    return body;
  }

  /** In the order in which steps end, they are undone from behind. The number only grows. */
  endedAs(path: string, number: number): void {
    this.#endedAs.set(path, number);
  }

  /** The write of a path whose body has changed. */
  written(path: string, working: Working): WrittenStep {
    const place = { run_id: this.#runId, ...placeOf(path) };
    const body = working.bodies.get(path);
    const before = this.#digests.get(path);
    if (!body) {
      this.#forget(path);
      return { write: { write: "workflow_step_gone", ...place }, digest: NO_ROW };
    }
    const { resolved, chosen, started_at, items: _items, ...rest } = body;
    // A step whose bindings cannot be expanded has opened all the same.
    const isNew = started_at !== undefined && this.#stored.get(path) !== (resolved ?? emptyMap);
    if (isNew) this.#stored.set(path, resolved ?? emptyMap);
    const opened = isNew ? this.#seal({ resolved, chosen, started_at }, aboutOpened(this.#runId, path)) : undefined;
    const ended = outcomeOf(rest, path, working);
    // What an attempt before has waited for is not waited for any longer.
    const outcome = ended ? this.#seal(ended, aboutOutcome(this.#runId, path)) : null;
    const row = {
      status: rest.status ?? (rest.suspend ? ("waiting" as const) : ("running" as const)),
      undo_order: isUndoable(path, rest, working) ? (this.#endedAs.get(path) ?? 0) : null,
    };
    const digests = {
      opened: opened === undefined ? (before?.opened ?? "") : textDigest(opened),
      outcome: outcome === undefined ? (before?.outcome ?? "") : textDigest(outcome),
    };
    // A row of a step that has succeeded is written whole where it is written again: long runs keep nothing of it here.
    if (row.status === "succeeded") this.#forget(path);
    else this.#digests.set(path, digests);
    const parts = { ...(opened !== undefined && { opened }), ...(outcome !== undefined && { outcome }) };
    return { write: { write: "workflow_step", ...place, ...parts, ...row }, digest: rowDigest(row, digests) };
  }

  #forget(path: string): void {
    this.#stored.delete(path);
    this.#digests.delete(path);
  }

  #seal(part: { readonly [Key in keyof Body]?: Body[Key] | undefined }, about: string): string {
    return this.#sealing.seal(JSON.stringify(part), about);
  }
}

/** The part of a body that a step gets when it waits or ends; undefined while there is none. */
function outcomeOf(rest: Body, path: string, working: Working): Body | undefined {
  const { output, ...others } = rest;
  const isDerived = output !== undefined && !isDeclined(output) && hasParts(path, working);
  const kept: Body = output === undefined || isDerived ? others : rest;
  return Object.keys(kept).length > 0 ? kept : undefined;
}

/** A parallel step whose branches were not carried out, because a gate declined that, has an output of its own. */
function isDeclined(output: Json): boolean {
  return isMap(output) && output.fanned_out === false;
}

/** True for a step whose output is made from those of the steps inside it. */
function hasParts(path: string, working: Working): boolean {
  if (path === ROOT) return false;
  const { resolved } = working.bodies.get(path) ?? {};
  // A part of a step has a body only if it failed, and no step stands at its path.
  return resolved !== undefined && kindOf(working, resolved) !== "single";
}

function isUndoable(path: string, { status }: Body, working: Working): boolean {
  if (status !== "succeeded" || path.startsWith(`${ROLLBACK}/`) || path.startsWith(`${ON_FAILURE}/`)) return false;
  return undoOf(stepAt(working, path)) !== undefined;
}
