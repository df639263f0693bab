// One turn of a run: what has arrived is taken in, the machine goes on, and what has to be stored for that stands in one batch.
import { errorMessage } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { advance } from "../machine/advance.ts";
import { breakOff } from "../machine/break-off.ts";
import { isGivenUp } from "../machine/failure-rules.ts";
import type { Arrived, Order, Step } from "../machine/next.ts";
import { parentOf, ROLLBACK, ROOT } from "../machine/path.ts";
import { reopen } from "../machine/reopen.ts";
import type { State } from "../machine/state.ts";
import { Unread } from "../machine/unread.ts";
import { bodyOf } from "../machine/working.ts";
import { errorOfThrown } from "../steps/errors-of-steps.ts";
import { isAfterFailure } from "./after-failure.ts";
import { beginElsewhere } from "./begin-step.ts";
import { begunCall } from "./begun-call.ts";
import { closeStep } from "./close-step.ts";
import { isOfDatabase } from "./database-fault.ts";
import { deliveryTo } from "./deliver.ts";
import { readInbox } from "./inbox.ts";
import type { LeasedRun, Settling, Standing } from "./leased-run.ts";
import { RunBatch } from "./run-batch.ts";
import type { RunHost } from "./run-host.ts";
import type { OpenStep } from "./run-state.ts";
import { dueTime, standingOf } from "./standing.ts";
import { cancelled, runBroken, runTerminated } from "./step-errors.ts";
import { stopStep } from "./stop-step.ts";

/** A step that code of this process is to carry out, with the number of its call. */
export type OrderedStep = { readonly order: Order; readonly call: number };

export type Turn = {
  readonly batch: RunBatch;
  readonly standing: Standing;
  /** The lease is given back with the commit. */
  readonly settling?: Settling;
  /** What begins after the commit. */
  readonly ordered: readonly OrderedStep[];
  /** True for a step whose result is not needed any more. */
  readonly isUnneeded: (path: string) => boolean;
  /** When the run goes on by itself, in milliseconds since 1970. */
  readonly until: number | null;
};

export type TurnInput = {
  /** What steps came to in this process. */
  readonly arrived: readonly Arrived[];
  /** How many steps this process is at work on. */
  readonly atWork: number;
  readonly isSliceOver: boolean;
};

export async function takeTurn(host: RunHost, run: LeasedRun, input: TurnInput): Promise<Turn> {
  const turn = new RunTurn(host, run);
  await turn.takeIn(input);
  return turn.finish(input);
}

class RunTurn {
  readonly #batch = new RunBatch();
  readonly #host: RunHost;
  readonly #run: LeasedRun;
  readonly #ordered: OrderedStep[] = [];
  readonly #open: Record<string, OpenStep>;
  #machine: State;
  #calls: number;
  #isPaused: boolean;

  constructor(host: RunHost, run: LeasedRun) {
    this.#host = host;
    this.#run = run;
    const { machine, open, calls, isPaused } = run.state;
    this.#machine = machine;
    this.#open = { ...open };
    this.#calls = calls;
    this.#isPaused = isPaused;
  }

  async takeIn({ arrived, isSliceOver }: TurnInput): Promise<void> {
    const { working, body, isTerminated } = this.#run;
    const inbox = await readInbox(this.#host, this.#run, this.#batch);
    if (this.#machine.status !== "running" && !(inbox.isRetry && (await this.#reopen()))) return;
    if (isTerminated || (inbox.isCancelled && (await this.#isTerminatedNow())))
      return await this.#breakOff(runTerminated);
    if (this.#machine.seq === 0 && body.refused) return await this.#breakOff(body.refused);
    // A run that is to stop has to undo what it did: a pause would keep it from that.
    this.#isPaused = inbox.isPaused ?? (this.#isPaused && !inbox.isCancelled);
    // Steps that undo others, and those that follow a failure, are held back as well.
    working.holdsBack = this.#isPaused || isSliceOver;
    const outcomes = await inbox.outcomes({ holdsBack: working.holdsBack, begin: (path) => this.#beginApproved(path) });
    const stopped = inbox.isCancelled ? this.#stopAfterFailure() : [];
    await this.#goOn([...arrived, ...outcomes, ...stopped], inbox.isCancelled);
  }

  /** It may have been ended for good while it was leased here. */
  async #isTerminatedNow(): Promise<boolean> {
    const [now] = await this.#host.threads.stores.threads.progress([this.#run.id]);
    return now?.status === "terminated";
  }

  /** What undoes steps is carried out to its end, but it does not wait for people or children once the run is to stop. */
  #stopAfterFailure(): Arrived[] {
    const waiting = Object.entries(this.#machine.steps).filter(([path, { phase }]) => {
      const open = this.#open[path];
      return isAfterFailure(path) && (phase === "waiting" || open?.by === "approval" || open?.by === "child");
    });
    const failed = { as: "failed", error: { ...cancelled, retryable: false } } as const;
    return waiting.map(([path, { attempt }]) => ({ path, attempt, outcome: failed }));
  }

  finish({ atWork }: TurnInput): Turn {
    const run = this.#run;
    const before = run.state.machine.status;
    run.state = { machine: this.#machine, open: this.#open, calls: this.#calls, isPaused: this.#isPaused };
    const isOver = this.#machine.status !== "running";
    if (isOver && before === "running") this.#batch.writes.push(...deliveryTo(run));
    if (isOver) this.#takeWhatIsLeft();
    const isAtRest = isOver || (this.#ordered.length === 0 && atWork === 0);
    const until = isOver ? null : dueTime(run.state, run.working.holdsBack ? this.#host.threads.now() : null);
    return {
      batch: this.#batch,
      standing: standingOf(run.state, isAtRest),
      ...(isAtRest && { settling: { dueAfter: this.#dueAfter(until) } }),
      ordered: this.#ordered,
      isUnneeded: (path) => isOver || (!isAfterFailure(path) && this.#isUnneeded(path)),
      until,
    };
  }

  /** Events that no step has taken, and answers that came too late: what waits in the inbox would keep the run for ever. */
  #takeWhatIsLeft(): void {
    const taken = new Set(this.#batch.drained);
    for (const { seq } of this.#run.entries) if (!taken.has(seq)) this.#batch.drained.push(seq);
  }

  /** Milliseconds; null for a run that has to be woken. */
  #dueAfter(until: number | null): number | null {
    if (this.#machine.status !== "running" || this.#isPaused) return null;
    // It was held back only to let others go first.
    if (this.#run.working.holdsBack) return 0;
    return until === null ? null : Math.max(0, until - this.#host.threads.now());
  }

  #isUnneeded(path: string): boolean {
    return this.#machine.isCancelling || isGivenUp(this.#machine, parentOf(path));
  }

  /** The machine goes on, and what it orders is begun, until nothing comes of that at once. */
  async #goOn(arrived: readonly Arrived[], isCancelled: boolean): Promise<void> {
    let news: readonly Arrived[] = isCancelled ? [...arrived, { request: "cancel" }] : arrived;
    for (;;) {
      const step = await this.#advance(news);
      if (!step) return;
      await this.#closeEnded(step);
      const begun = await this.#begin(step);
      news = [...begun, ...this.#stopUnneeded()];
      if (news.length === 0) return;
    }
  }

  /** Undefined when the run cannot be carried on. */
  async #advance(arrived: readonly Arrived[]): Promise<Step | undefined> {
    const now = this.#host.threads.now();
    const came = await this.#run.known.reading(() => this.#comesTo(now, arrived));
    if ("broken" in came) {
      await this.#breakOff(runBroken(came.broken));
      return undefined;
    }
    this.#run.known.takeEnded(came.facts, this.#machine.ended);
    this.#machine = came.state;
    this.#batch.add(came);
    return came;
  }

  #comesTo(now: number, arrived: readonly Arrived[]): Step | { readonly broken: string } {
    try {
      return advance(this.#machine, this.#run.working, now, arrived);
    } catch (thrown) {
      if (thrown instanceof Unread) throw thrown;
      return { broken: errorMessage(thrown) };
    }
  }

  async #begin({ next }: Step): Promise<Arrived[]> {
    const arrived: Arrived[] = [];
    for (const order of next.kind === "effects" ? next.begin : []) {
      const { path, attempt } = order;
      const call = ++this.#calls;
      const begun = await orFailed(() =>
        beginElsewhere({
          ...{ host: this.#host, run: this.#run, batch: this.#batch, order, call },
          approved: this.#open[path]?.request_id,
        }),
      );
      if (begun === "in_process") this.#order(order, call, this.#open[path]?.request_id);
      else {
        if (begun.open) this.#open[path] = { attempt, call, ...begun.open };
        if (begun.outcome) arrived.push({ path, attempt, outcome: begun.outcome });
      }
    }
    return arrived;
  }

  /** Code of this process carries it out once the batch is committed. */
  #order(order: Order, call: number, approval?: string): void {
    const { path, attempt } = order;
    this.#open[path] = { attempt, call, by: "process", ...(approval !== undefined && { request_id: approval }) };
    this.#ordered.push({ order, call });
    this.#batch.calls.push(begunCall(this.#host, this.#run, order, call));
  }

  /** A person has agreed that the step is carried out. */
  #beginApproved(path: string): void {
    const open = this.#open[path];
    if (open) this.#order(this.#run.orderAt(path, open.attempt), open.call, open.request_id);
  }

  async #closeEnded({ facts }: Step): Promise<void> {
    for (const fact of facts) {
      if (fact.type !== "step.ended" && fact.type !== "step.retrying") continue;
      const open = this.#open[fact.path];
      if (open) await closeStep(this.#host, this.#run, this.#batch, fact.path, open);
      const isRetried = fact.type === "step.retrying";
      // What a person has agreed to holds for every attempt at the step.
      const isApproved = isRetried && open?.by === "process" && open.request_id !== undefined;
      if (isApproved) this.#open[fact.path] = { ...open, isRetrying: true };
      else delete this.#open[fact.path];
      // An undo that failed is for an operator to look at; the others go on.
      if (!isRetried && parentOf(fact.path) === ROLLBACK && fact.as !== "succeeded") this.#batch.hasProblem = true;
    }
  }

  /** Steps that something else carries out, and whose result is not needed any more. */
  #stopUnneeded(): Arrived[] {
    const arrived: Arrived[] = [];
    for (const [path, open] of Object.entries(this.#open)) {
      if (isAfterFailure(path) || open.isStopping || !this.#isUnneeded(path)) continue;
      if (open.by === "approval")
        arrived.push({ path, attempt: open.attempt, outcome: { as: "failed", error: cancelled } });
      if (open.by !== "child") continue;
      this.#batch.writes.push(...stopStep(open, this.#run.working.bodies.get(path)?.resolved));
      this.#open[path] = { ...open, isStopping: true };
    }
    return arrived;
  }

  async #reopen(): Promise<boolean> {
    const reopened = await this.#run.known.reading(() => reopen(this.#machine, this.#run.working));
    if ("refused" in reopened) return false;
    this.#run.beginAttempt();
    this.#machine = reopened.state;
    this.#batch.add(reopened);
    return true;
  }

  /** Ends the run whatever is open. Nothing is undone. */
  async #breakOff(error: JsonMap): Promise<void> {
    const { working } = this.#run;
    const step = breakOff(this.#machine, working, error);
    const now = this.#host.threads.now();
    const left = Object.keys(this.#machine.steps);
    for (const path of left) {
      working.bodies.set(path, { ...bodyOf(working, path), status: "cut_off", ended_at: now });
    }
    // Tells it from a run that has failed in one of its steps.
    working.bodies.set(ROOT, { ...bodyOf(working, ROOT), status: "cut_off" });
    this.#machine = step.state;
    this.#batch.add({ ...step, changed: new Set([...step.changed, ...left]) });
    for (const [path, open] of Object.entries(this.#open)) {
      if (open.by === "process" && !open.isRetrying) {
        this.#batch.endCall(open.call, "unknown", { status: "cut_off" });
        this.#batch.hasProblem = true;
      } else await closeStep(this.#host, this.#run, this.#batch, path, open);
      delete this.#open[path];
    }
    if (await this.#run.known.reading(() => working.undoable.length > 0)) this.#batch.hasProblem = true;
  }
}

/** What goes wrong where a step begins elsewhere fails the step, unless it is the database: then the turn is tried again. */
async function orFailed(begin: () => ReturnType<typeof beginElsewhere>): ReturnType<typeof beginElsewhere> {
  try {
    return await begin();
  } catch (thrown) {
    if (isOfDatabase(thrown)) throw thrown;
    return { outcome: { as: "failed", error: errorOfThrown(thrown) } };
  }
}
