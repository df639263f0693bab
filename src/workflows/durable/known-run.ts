// What the machine knows of a run under a lease: read as it is asked for, and written with the commits that change it.
import { onFailureOf } from "../../contracts/workflows/step-options.ts";
import type { Fact } from "../machine/facts.ts";
import type { State } from "../machine/state.ts";
import { type Missing, Unread } from "../machine/unread.ts";
import { newWorking, type Working } from "../machine/working.ts";
import { LazyBodies } from "./lazy-bodies.ts";
import { LazyUndoable } from "./lazy-undoable.ts";
import { isNeverBegunIn } from "./never-begun.ts";
import { openPaths } from "./open-paths.ts";
import { ownTypes } from "./own-types.ts";
import type { OpenedBody } from "./run-body.ts";
import type { RunHost } from "./run-host.ts";
import { pathOf, StoredBodies, type WrittenStep, withOutputOfParts } from "./stored-bodies.ts";

/** How many parts of a run this process carries out at the same time. */
const ROOM = 100;

export type RunToKnow = {
  readonly id: string;
  readonly body: OpenedBody;
  /** As it was stored when the lease began. */
  readonly machine: State;
  /** Whether it is the first attempt at the run. */
  readonly isFirst: boolean;
};

export class KnownRun {
  readonly working: Working;
  readonly #host: RunHost;
  readonly #run: RunToKnow;
  readonly #rows: StoredBodies;
  readonly #bodies: LazyBodies;
  readonly #undoable = new LazyUndoable();

  constructor(host: RunHost, run: RunToKnow) {
    const { id, body, machine, isFirst } = run;
    const { sealing, stores } = host.threads;
    const { typed, inputs, continue_on_error: continueOnError, starts_at: startsAt = 0 } = body;
    this.#host = host;
    this.#run = run;
    this.#rows = new StoredBodies(sealing, id);
    this.#bodies = new LazyBodies({
      ...{ store: stores.workflows, runId: id, atMost: host.rowsAtOnce },
      bodyOf: (row) => withOutputOfParts(this.working, pathOf(row), this.#rows.read(row)),
      isNeverBegun: isNeverBegunIn(machine, { isFirst, startsAt }),
    });
    this.working = newWorking({
      ...{ steps: typed.steps, inputs, continueOnError, startsAt, onFailure: onFailureOf(typed), room: ROOM },
      own: ownTypes(host.stepHandlers),
      asksFanOut: host.hooks?.has("workflowShouldFanout") === true,
      ...{ bodies: this.#bodies, undoable: this.#undoable },
    });
  }

  /** Reads what is open: that is asked for in any case, and by code that cannot wait. */
  async readOpen(): Promise<void> {
    await this.#bodies.readAt(openPaths(this.#run.machine));
  }

  /**
   * What this comes to, which must be repeatable: whenever it asks for something that was not read yet, that is read, and the work is
   * done anew as if it had changed nothing.
   */
  async reading<Result>(work: () => Result): Promise<Result> {
    for (let asked = 0; ; asked++) {
      const tried = this.#try(work);
      if ("result" in tried) return tried.result;
      await this.#read(tried.missing, asked);
    }
  }

  #try<Result>(work: () => Result): { readonly result: Result } | { readonly missing: Missing } {
    let isKept = false;
    this.#bodies.begin();
    this.#undoable.begin();
    try {
      const result = work();
      isKept = true;
      return { result };
    } catch (thrown) {
      if (thrown instanceof Unread) return { missing: thrown.missing };
      throw thrown;
    } finally {
      this.#bodies.end(isKept);
      this.#undoable.end(isKept);
    }
  }

  async #read(missing: Missing, asked: number): Promise<void> {
    if (missing !== "undoable") return await this.#bodies.read(missing, asked);
    const { commits } = this.#undoable;
    const found = await this.#host.threads.stores.workflows.undoable(this.#run.id);
    // What a commit has added meanwhile need not be among them: then they are read once more.
    if (this.#undoable.commits === commits) this.#undoable.take(found.map(pathOf));
  }

  /** What has ended in the order of its facts, behind so many steps that ended before. */
  takeEnded(facts: readonly Fact[], before: number): void {
    let ended = before;
    for (const fact of facts) if (fact.type === "step.ended") this.#rows.endedAs(fact.path, ++ended);
  }

  /** The write of a path whose body has changed. */
  written(path: string): WrittenStep {
    return this.#rows.written(path, this.working);
  }

  /** What was written is stored. */
  committed(): void {
    this.#undoable.committed();
  }
}
