// A run from the moment a worker claims it until its lease is given back. Everything that the machine decides is committed before
// anything of it is acted upon, and what steps came to is kept until it is stored.
import type { Claimed } from "../../backend/engine.ts";
import { type Moment, momentNow } from "../../engine/moment.ts";
import { CommitConflict, LeaseLost } from "../../engine/retry-commit.ts";
import type { Activation } from "../../engine/work-loop.ts";
import { firstCommit } from "../../threads/first-commit.ts";
import type { Arrived, Outcome } from "../machine/next.ts";
import { errorOfThrown } from "../steps/errors-of-steps.ts";
import { after } from "../steps/long-timer.ts";
import { isAfterFailure } from "./after-failure.ts";
import { announceEnd } from "./announce-end.ts";
import { begunCall } from "./begun-call.ts";
import { LeasedRun } from "./leased-run.ts";
import { missingCode } from "./missing-code.ts";
import { performStep } from "./perform-step.ts";
import { RunBatch } from "./run-batch.ts";
import type { RunHost } from "./run-host.ts";
import { standingOf } from "./standing.ts";
import { cancelled } from "./step-errors.ts";
import { stepKey } from "./step-key.ts";
import { type OrderedStep, type Turn, takeTurn } from "./turn.ts";
import { settleStep } from "./unsettled-step.ts";
import { beginWork, workId } from "./work-in-process.ts";

export type RunClaim = {
  readonly claimed: Claimed;
  readonly worker: string;
  /** A time before the claim, on this process's clocks. */
  readonly claimedAt: Moment;
  /** True when other runs are due and this one has had its share, or the process is to stop. */
  readonly isSliceOver: (commits: number) => boolean;
};

export function activateRun(host: RunHost, claim: RunClaim): Activation {
  const { clock, progress } = host.threads;
  const driver = new Driver(host, claim);
  const done = driver.run();
  return {
    epoch: claim.claimed.epoch,
    get isReleased() {
      return driver.isOver || driver.leased?.isReleased === true;
    },
    notify: () => driver.notify(),
    renewed: (at) => driver.leased?.renewed(at),
    lost: () => driver.lose(),
    done,
    ...(clock && { begun: firstCommit(progress, claim.claimed.id, done) }),
  };
}

/** How often a run is read again because something outside was faster, and how long to wait in between. */
const MOST_OVERTAKEN = 40;
const OVERTAKEN_PAUSE_MS = 5;

/** How often a commit is tried again that fails for a reason that is not known, and how long to wait in between. */
const MOST_TRIES = 8;
const PAUSE_MS = 250;

/** How long a run is left alone that this process has not the code for. */
const MISSING_CODE_PAUSE_MS = 10_000;

type WorkOfStep = {
  readonly path: string;
  readonly attempt: number;
  readonly call: number;
  readonly cut: AbortController;
};

class Driver {
  leased: LeasedRun | undefined;
  isOver = false;
  readonly #host: RunHost;
  readonly #claim: RunClaim;
  #isLost = false;
  #commits = 0;
  /** What steps came to and is not stored yet, by the number of their calls. It outlives a commit that was overtaken. */
  readonly #outcomes = new Map<number, Arrived & { readonly path: string }>();
  /** Steps that this process is at work on, by the number of their calls. */
  readonly #work = new Map<number, WorkOfStep>();
  /** Something has come in since the inbox was read. */
  #hasNews = false;
  #wake: (() => void) | undefined;

  constructor(host: RunHost, claim: RunClaim) {
    this.#host = host;
    this.#claim = claim;
  }

  async run(): Promise<void> {
    const unwatch = this.#host.threads.clock?.watch(async () => this.notify());
    try {
      await this.#untilDone();
    } finally {
      this.isOver = true;
      unwatch?.();
    }
  }

  notify(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  lose(): void {
    this.#isLost = true;
    this.leased?.giveUp();
    for (const { cut } of this.#work.values()) cut.abort();
    this.#wake?.();
  }

  async #untilDone(): Promise<void> {
    for (let failures = 0, overtaken = 0; ; ) {
      const commits = this.#commits;
      try {
        await this.#drive();
        return;
      } catch (thrown) {
        if (thrown instanceof LeaseLost || (thrown instanceof CommitConflict && this.#isLost)) return;
        if (thrown instanceof CommitConflict) {
          overtaken = this.#commits > commits ? 0 : overtaken + 1;
          // Once is chance; again and again is something that will not pass.
          if (overtaken > MOST_OVERTAKEN) throw thrown;
          if (overtaken > 1) await pauseFor(overtaken * OVERTAKEN_PAUSE_MS);
          continue;
        }
        // What steps came to is known only here: that is worth a few more tries.
        const isWorthIt = this.#outcomes.size + this.#work.size > 0;
        if (!isWorthIt || this.#isLost || ++failures > MOST_TRIES) throw thrown;
        this.#host.threads.report(thrown, this.#claim.claimed.id);
        await pauseFor(failures * PAUSE_MS);
      }
    }
  }

  /** From what is stored until the lease is given back. */
  async #drive(): Promise<void> {
    const { worker, claimed, claimedAt } = this.#claim;
    const since = this.#commits === 0 ? claimedAt : momentNow();
    const run = await LeasedRun.load(this.#host, worker, claimed, since);
    this.leased = run;
    if (this.#isLost) run.giveUp();
    const missing = missingCode(this.#host, run);
    // Another process may have it, or this one after its next start.
    if (missing !== undefined) return await run.giveBack(MISSING_CODE_PAUSE_MS, missing);
    await this.#takeUpUnsettled(run);
    for (;;) {
      if (this.#hasNews) {
        this.#hasNews = false;
        await run.readInbox();
      }
      if (run.givenUp.aborted) throw new LeaseLost(`Run ${run.id} was given up.`);
      const outcomes = [...this.#outcomes];
      const turn = await takeTurn(this.#host, run, {
        arrived: outcomes.map(([, arrived]) => arrived),
        atWork: this.#work.size,
        isSliceOver: this.#claim.isSliceOver(this.#commits),
      });
      await this.#commit(run, turn);
      for (const [call] of outcomes) this.#outcomes.delete(call);
      if (turn.settling) return;
      await this.#act(run, turn);
      await this.#untilSomething(turn);
    }
  }

  async #commit(run: LeasedRun, { batch, standing, settling }: Turn): Promise<void> {
    if (batch.isEmpty && !settling) return;
    if (batch.isEmpty && settling && run.isShownAs(standing)) return await run.giveBack(settling.dueAfter);
    await run.commit(batch, standing, settling);
    this.#commits++;
    await announceEnd(this.#host, run, batch);
  }

  /** Begins what was ordered, and fires the signals of steps whose result is not needed any more. */
  async #act(run: LeasedRun, { ordered, isUnneeded }: Turn): Promise<void> {
    for (const { path, cut } of this.#work.values()) if (isUnneeded(path)) cut.abort();
    for (const each of ordered) {
      // A wish to stop that came with the commit, or before it: what has not begun does not begin.
      const { path } = each.order;
      const isStopping = run.entries.some(({ kind }) => kind === "stop") && !isAfterFailure(path);
      if (isStopping || isUnneeded(path)) this.#arrive(each, { as: "failed", error: cancelled });
      else await this.#begin(run, each);
    }
  }

  async #begin(run: LeasedRun, each: OrderedStep): Promise<void> {
    if (!run.isSafelyLeased) await this.#renew(run);
    const about = { host: this.#host, run, order: each.order, renew: () => this.#renew(run) };
    const key = stepKey(run.id, run.attempt, each.order.path);
    this.#follow(run, each, (signal) => performStep({ ...about, key, signal }));
  }

  /** Nothing is begun without a lease that holds for a while: a process that slept may have lost it. */
  async #renew(run: LeasedRun): Promise<void> {
    const at = momentNow();
    const { stores, leaseMs } = this.#host.threads;
    const renewed = await stores.engine.renew(this.#claim.worker, [run.id], leaseMs * 1_000);
    if (renewed.some(({ id, epoch }) => id === run.id && epoch === run.epoch)) return run.renewed(at);
    this.lose();
    throw new LeaseLost(`Run ${run.id} is leased by another process.`);
  }

  /** Steps that were begun before the lease: this process may still be at work on them, or their outcome has to be found out. */
  async #takeUpUnsettled(run: LeasedRun): Promise<void> {
    const { machine, open } = run.state;
    const unsettled = Object.entries(open).flatMap(([path, { by, call, attempt }]) => {
      const isAtWork = this.#work.has(call) || this.#outcomes.has(call);
      const isUnsettled = by === "process" && machine.steps[path]?.phase === "running" && !isAtWork;
      return isUnsettled ? [{ order: run.orderAt(path, attempt), call }] : [];
    });
    if (unsettled.length === 0) return;
    const { stores } = this.#host.threads;
    const begun = await Promise.all(unsettled.map(({ call }) => stores.threads.call(run.id, run.attempt, call)));
    await this.#beginAgain(run, unsettled);
    for (const [index, each] of unsettled.entries()) {
      const key = stepKey(run.id, run.attempt, each.order.path);
      const about = { host: this.#host, run, order: each.order, key, renew: () => this.#renew(run) };
      this.#follow(run, each, (signal) => settleStep({ ...about, signal }, begun[index]));
    }
  }

  /** They may be carried out anew: another process has to wait longer before it takes them for given up. */
  async #beginAgain(run: LeasedRun, steps: readonly OrderedStep[]): Promise<void> {
    const batch = new RunBatch();
    for (const { order, call } of steps) batch.calls.push(begunCall(this.#host, run, order, call));
    await run.commit(batch, standingOf(run.state, false));
    this.#commits++;
  }

  #follow(run: LeasedRun, each: OrderedStep, perform: (signal: AbortSignal) => Promise<Outcome>): void {
    const { order, call } = each;
    const { promise, cut } = beginWork(this.#host, workId(run.id, run.attempt, call), (signal) =>
      perform(signal).catch((thrown: unknown) => ({ as: "failed", error: errorOfThrown(thrown) }) as const),
    );
    this.#work.set(call, { path: order.path, attempt: order.attempt, call, cut });
    void promise.then((outcome) => {
      this.#work.delete(call);
      this.#arrive(each, outcome);
    });
  }

  #arrive({ order: { path, attempt }, call }: OrderedStep, outcome: Outcome): void {
    this.#outcomes.set(call, { path, attempt, outcome });
    this.#wake?.();
  }

  /** Until a step has come to something, the inbox has news, a time has come, or the lease is lost. */
  async #untilSomething({ until }: Turn): Promise<void> {
    if (this.#outcomes.size > 0 || this.#hasNews || this.#isLost || this.#work.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const { clock, now } = this.#host.threads;
    // By a clock that a test holds nothing becomes due by waiting.
    const callOff = until === null || clock ? undefined : after(Math.max(0, until - now()), resolve);
    await promise;
    this.#wake = undefined;
    callOff?.();
  }
}

async function pauseFor(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}
