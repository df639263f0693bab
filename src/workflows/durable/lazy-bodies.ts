// What is known of the steps of a run under a lease, read when the machine asks for it: a run may have done very much before.
import type { StoredStep, WorkflowStore } from "../../backend/workflow-store.ts";
import { below } from "../machine/path.ts";
import { type Missing, Unread } from "../machine/unread.ts";
import type { Bodies, Body } from "../machine/working.ts";
import { pathOf, placeOf } from "./stored-bodies.ts";

/** Each time that the machine asks anew for more within one step, so many times as many rows are read. */
const GROWTH = 4;

/** What reads the rows, and what is known without reading. */
type Source = {
  readonly store: Pick<WorkflowStore, "steps" | "stepsAt">;
  readonly runId: string;
  readonly bodyOf: (row: StoredStep) => Body;
  /** True for a path of which nothing was stored when the lease began. */
  readonly isNeverBegun: (path: string) => boolean;
  /** For tests: the most rows that are read at once. */
  readonly atMost?: number | undefined;
};

export class LazyBodies implements Bodies {
  readonly #source: Source;
  readonly #known = new Map<string, Body>();
  /** Of these nothing is known, and there is nothing more to read. */
  readonly #absent = new Set<string>();
  /** Everything below these paths was read. */
  readonly #wholes = new Set<string>();
  /** In these lists everything from a position on was read. */
  readonly #ends = new Map<string, number>();
  /** What the machine has changed and may have to be forgotten: undefined where a body was removed. */
  #changes: Map<string, Body | undefined> | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  get(path: string): Body | undefined {
    if (this.#changes?.has(path)) return this.#changes.get(path);
    const known = this.#known.get(path);
    if (known || this.#isAbsent(path)) return known;
    throw new Unread({ at: path });
  }

  has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  set(path: string, body: Body): void {
    if (this.#changes) this.#changes.set(path, body);
    else this.#known.set(path, body);
  }

  delete(path: string): void {
    if (this.#changes) this.#changes.set(path, undefined);
    else this.#forget(path);
  }

  expectAllBelow(path: string): void {
    const { atMost, isNeverBegun } = this.#source;
    // Of what was begun under this lease all is known; row by row it is read as it is asked for.
    const isKnown = atMost !== undefined || this.#isWhole(path) || isNeverBegun(below(path, 0));
    if (!isKnown) throw new Unread({ below: path });
  }

  /** From here on changes can be taken back. */
  begin(): void {
    this.#changes = new Map();
  }

  /** Keeps what was changed since `begin`, or forgets it. */
  end(isKept: boolean): void {
    const changes = this.#changes ?? [];
    this.#changes = undefined;
    for (const [path, body] of isKept ? changes : []) {
      if (body) this.#known.set(path, body);
      else this.#forget(path);
    }
  }

  /** Reads what is missing. `asked`: how often something was missing already, so that a walk through very much is not read bit by bit. */
  async read(missing: Exclude<Missing, "undoable">, asked: number): Promise<void> {
    const { store, runId, atMost = Number.MAX_SAFE_INTEGER } = this.#source;
    if ("below" in missing) {
      this.#take(await store.steps(runId, { below: missing.below }));
      this.#wholes.add(missing.below);
      return;
    }
    const { parent, position } = placeOf(missing.at);
    const limit = Math.min(atMost, GROWTH ** asked);
    const rows = await store.steps(runId, { after: { parent, position: position - 1 }, limit });
    const own = rows.filter((row) => row.parent === parent);
    this.#take(own);
    const last = own.at(-1)?.position ?? position;
    for (let at = position; at <= last; at++) this.#absent.add(pathOf({ parent, position: at }));
    if (own.length < limit) this.#ends.set(parent, Math.min(position, this.#ends.get(parent) ?? position));
  }

  /** Reads those of these paths that there are. */
  async readAt(paths: readonly string[]): Promise<void> {
    this.#take(await this.#source.store.stepsAt(this.#source.runId, paths.map(placeOf)));
    for (const path of paths) this.#absent.add(path);
  }

  /** What was set meanwhile is newer than what is stored. */
  #take(rows: readonly StoredStep[]): void {
    for (const row of rows) {
      const path = pathOf(row);
      if (!this.#known.has(path) && !this.#absent.has(path)) this.#known.set(path, this.#source.bodyOf(row));
    }
  }

  #forget(path: string): void {
    this.#known.delete(path);
    this.#absent.add(path);
  }

  #isAbsent(path: string): boolean {
    if (this.#absent.has(path)) return true;
    const { parent, position } = placeOf(path);
    if (position >= (this.#ends.get(parent) ?? Number.POSITIVE_INFINITY)) return true;
    return this.#source.isNeverBegun(path) || this.#isWhole(parent);
  }

  #isWhole(path: string): boolean {
    if (this.#wholes.size === 0) return false;
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (this.#wholes.has(path.slice(0, end))) return true;
    }
    return false;
  }
}
