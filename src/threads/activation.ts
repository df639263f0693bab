// The durable driver of the loop: a thread from the moment a worker claims it until it is given back. Between two effects
// there is always a commit, and nothing is acted upon before it.
import type { Claimed } from "../backend/engine.ts";
import type { ThreadStatus } from "../backend/thread-rows.ts";
import { type Moment, momentNow } from "../engine/moment.ts";
import { CommitConflict, LeaseLost, retryWhileDatabaseDown } from "../engine/retry-commit.ts";
import type { Activation } from "../engine/work-loop.ts";
import { advance, release } from "../loop/advance.ts";
import { forget } from "../loop/keep-working.ts";
import type { Arrived, EffectOrder, Inbox, Next, Question } from "../loop/next.ts";
import { initialState } from "../loop/state.ts";
import { account } from "./account.ts";
import { attempted } from "./asking/model-attempt.ts";
import { Batch } from "./batch.ts";
import { begunCall } from "./calls/in-flight.ts";
import { withControl } from "./calls/left-behind.ts";
import { takeOver } from "./cast/take-over.ts";
import { actingSide, enterPrompt, toolsThereAre } from "./cast/who-acts.ts";
import type { Settling } from "./commit-parts.ts";
import { keepTranscript } from "./consent/keep-transcript.ts";
import { runDueEffect } from "./effects/due-effect.ts";
import { hasWork, isWork, isWorkKind, staysStopped } from "./entries.ts";
import { firstCommit } from "./first-commit.ts";
import { untilTimeUp, workTimeLeft } from "./funds/work-time.ts";
import { HeldThread } from "./held-thread.ts";
import { tellCreated } from "./hooks/message-hooks.ts";
import type { Host } from "./host.ts";
import { InboxOffer } from "./inbox-offer.ts";
import { endedOutcome, waitingOutcome } from "./outcome.ts";
import { judge } from "./output.ts";
import { requestNote } from "./requests/notes.ts";
import { requestOf } from "./requests/request-of.ts";
import { endWrites, sessionOutcome } from "./run-end.ts";
import { type Start, startThread, type Unstored } from "./start-thread.ts";
import { cutOff, takeStop, unlessStopping } from "./stopping.ts";
import { traceEffect } from "./telemetry/trace-effect.ts";
import { traceRun } from "./telemetry/trace-run.ts";
import { agentOf, type ThreadRun } from "./thread-run.ts";

type Claim = {
  readonly claimed: Claimed;
  readonly worker: string;
  /** A time before the claim, on this process's clocks. */
  readonly claimedAt: Moment;
  /** True when others are due and this thread has had its share, or its agent is not to be asked any more. */
  readonly isSliceOver: (commits: number, agent: string) => boolean;
};

export function activate(host: Host, claim: Claim): Activation {
  const { id, epoch } = claim.claimed;
  const driver = new Driver(host, claim);
  const done = driver.run();
  return {
    epoch,
    get isReleased() {
      return driver.isOver || driver.held?.isReleased === true;
    },
    notify: () => void driver.lookAtInbox(),
    renewed: (at) => driver.held?.renewed(at),
    lost: () => driver.lose(),
    done,
    ...(host.clock && { begun: firstCommit(host.progress, id, done) }),
  };
}

/** How often a commit is tried again that fails for a reason nobody thought of, and how long to wait in between. */
const MOST_TRIES = 8;
const PAUSE_MS = 250;

/** How often a thread is read again because something outside was faster, and how long to wait in between. */
const MOST_OVERTAKEN = 40;
const OVERTAKEN_PAUSE_MS = 5;

class Driver {
  held: HeldThread | undefined;
  isOver = false;
  readonly #host: Host;
  readonly #claim: Claim;
  #run: ThreadRun | undefined;
  #isLost = false;
  #commits = 0;
  /** What came of an effect and is not committed yet. It must not be forgotten because a commit was overtaken. */
  #unstored: Unstored | undefined;

  readonly #offer: InboxOffer;

  constructor(host: Host, claim: Claim) {
    this.#host = host;
    this.#claim = claim;
    this.#offer = new InboxOffer(host);
  }

  async run(): Promise<void> {
    try {
      await this.#untilDone();
    } finally {
      this.isOver = true;
    }
  }

  async #untilDone(): Promise<void> {
    for (let failures = 0, overtaken = 0; ; ) {
      const commits = this.#commits;
      try {
        await this.#once();
        return;
      } catch (thrown) {
        if (thrown instanceof LeaseLost || (thrown instanceof CommitConflict && this.#isLost)) return;
        if (thrown instanceof CommitConflict) {
          overtaken = this.#commits > commits ? 0 : overtaken + 1;
          // Once is chance; again and again is something that will not pass.
          if (overtaken > MOST_OVERTAKEN) throw thrown;
          if (overtaken > 1) await new Promise((resolve) => setTimeout(resolve, overtaken * OVERTAKEN_PAUSE_MS));
          continue;
        }
        // What came of an effect is known only here: that is worth a few more tries.
        if (!this.#unstored || this.#isLost || ++failures > MOST_TRIES) throw thrown;
        this.#host.report(thrown, this.#claim.claimed.id);
        await new Promise((resolve) => setTimeout(resolve, failures * PAUSE_MS));
      } finally {
        if (this.held) this.#host.liveTexts.end(this.held.id);
      }
    }
  }

  lose(): void {
    this.#isLost = true;
    this.held?.giveUp();
    this.#run?.abort.abort();
  }

  /** A wish to stop cuts off what is under way; anything else waits for the next turn. */
  async lookAtInbox(): Promise<void> {
    const { held } = this;
    const run = this.#run;
    if (!held) return;
    try {
      const waiting = await this.#host.stores.inbox.waiting(held.id);
      if (!waiting.some(({ kind }) => kind === "stop")) return;
      run?.abort.abort();
      held.cutEffect();
    } catch {
      // The database is away for a moment; the entry is found with the next commit.
    }
  }

  async #once(): Promise<void> {
    const { claimedAt } = this.#claim;
    let held = await this.#hold(claimedAt);
    for (;;) {
      const start = await startThread(this.#host, held, this.#unstored, (run) => {
        this.#run = run;
      });
      if (!start || !(await traceRun(held, start.run, () => this.#drive(held, start)))) return;
      // Another run follows at once: it begins from what is stored, like every other.
      held = await this.#hold(momentNow());
    }
  }

  /** Reads the thread. It may have been let go of while it was read. */
  async #hold(since: Moment): Promise<HeldThread> {
    const { worker, claimed } = this.#claim;
    const held = await HeldThread.load(this.#host, worker, claimed, since);
    if (this.#isLost) held.giveUp();
    held.onCommit = () => {
      this.#commits++;
    };
    this.held = held;
    return held;
  }

  /** Goes on until the thread is laid down (false) or its run has ended and another one waits (true). */
  async #drive(held: HeldThread, { run, batch: first, arrived: start, ...begun }: Start): Promise<boolean> {
    let batch = first;
    let arrived = start;
    let mayHaveRun = begun.mayHaveRun ?? false;
    for (;;) {
      const next = await this.#advance(held, run, batch, arrived);
      switch (next.kind) {
        case "end":
          return await this.#end(held, run, batch);
        case "park":
          await this.#park(held, run, batch);
          return false;
        case "wait": {
          const dueAfter = unlessStopping(held, batch, next.until - this.#host.now());
          if (batch.isEmpty) {
            await runDueEffect(this.#host, held, run);
            await held.giveBack(dueAfter);
          }
          if (!batch.isEmpty) await this.#commit(held, run, batch, "waiting", { dueAfter });
          return false;
        }
        case "effect":
          break;
        default:
          throw new Error(`A step ended in ${next.kind}.`);
      }
      const { order } = next;
      const isOver = order.kind === "call_model" && this.#claim.isSliceOver(this.#commits, held.agent);
      // It was never sent: whoever takes the thread up must not take it for an attempt that got lost.
      if (isOver && held.state) {
        const released = release(held.state, run.working, this.#host.now());
        held.state = released.state;
        batch.add(released);
      }
      if (!batch.isEmpty || isOver)
        await this.#commit(held, run, batch, "running", isOver ? { dueAfter: 0 } : undefined);
      if (isOver) return false;
      batch = new Batch(held.from);
      const isAgain = order.kind === "run_tool" && mayHaveRun;
      mayHaveRun = false;
      arrived = takeStop(held, batch, isAgain) ?? (await this.#perform(held, run, batch, order, isAgain));
      this.#unstored = { arrived, left: run.left, seq: held.state?.seq ?? 0 };
    }
  }

  /** Steps the machine until it needs something outside; questions are answered within the same batch. */
  async #advance(held: HeldThread, run: ThreadRun, batch: Batch, arrived: Arrived | undefined): Promise<Next> {
    let brought = arrived;
    for (;;) {
      const step = advance(held.state ?? initialState, run.working, this.#host.now(), brought);
      held.state = step.state;
      batch.add(step);
      account(this.#host, { held, run, batch, offer: this.#offer }, step.records);
      const { next } = step;
      if (next.kind === "consult") brought = await this.#answer(held, run, batch, next.question);
      else if (next.kind === "refuse") brought = { threw: next.error, hasSpoken: true };
      else return next;
    }
  }

  async #answer(held: HeldThread, run: ThreadRun, batch: Batch, question: Question): Promise<Arrived> {
    const { output } = run.cast.agent;
    switch (question.hook) {
      case "inbox":
        return { returned: await this.#beginTurn(held, run, batch) };
      case "cast":
        run.act(run.cast.side);
        return { returned: true };
      case "frame":
        return await this.#ask(held, run, batch, () => enterPrompt(this.#host, held, run, question.call));
      case "visible_tools":
        return await this.#ask(held, run, batch, () => this.#visibleTools(held, run, batch, question));
      case "funds":
        return await this.#ask(held, run, batch, () => this.#fundsLeft(held, run));
      default:
        break;
    }
    if (question.hook === "output" && output) {
      const left = workTimeLeft(run.working.config, held.state, this.#host.now());
      const { signal } = run.abort;
      return await this.#ask(held, run, batch, () => untilTimeUp(left, signal, () => judge(output, question.text)));
    }
    return await this.#ask(held, run, batch, () => run.carryOut.answer(question));
  }

  /** What waits for the turn, and who acts in it: from here on the machine is configured for them. */
  async #beginTurn(held: HeldThread, run: ThreadRun, batch: Batch): Promise<Inbox> {
    const inbox = await this.#offer.make(held, batch, run);
    if (run.cast.agent.slug !== held.agent) await takeOver(this.#host, held, batch);
    const side = actingSide(held, run, { messages: this.#offer.asking, calls: inbox.calls });
    const isHuman = held.state?.turn === 0 && agentOf(this.#host, held).sides[side].backing.kind !== "prompt";
    if (!isHuman) run.act(side);
    return run.cast.agent.style === "standard" ? { ...inbox, side } : inbox;
  }

  async #visibleTools(held: HeldThread, run: ThreadRun, { writes }: Batch, question: Question): Promise<unknown> {
    const allowed = await run.carryOut.answer(question);
    return Array.isArray(allowed) ? await toolsThereAre(this.#host, held, run, { allowed, writes }) : allowed;
  }

  /** Asks somebody who may take long, until the run is cut off. */
  async #ask(held: HeldThread, run: ThreadRun, batch: Batch, call: () => unknown): Promise<Arrived> {
    return (await run.attempt(call)) ?? (await cutOff(held, run, batch, false));
  }

  /** What is left of the funds that the thread shares with others. */
  #fundsLeft(held: HeldThread, run: ThreadRun): Promise<unknown> {
    const { funds, state } = held;
    const left = async () => await funds?.left(this.#host.stores.budgets, state ?? initialState, run.models);
    return retryWhileDatabaseDown(left, () => held.isGivenUp || run.abort.signal.aborted);
  }

  /** Does what was ordered; that it begins is committed. */
  async #perform(
    held: HeldThread,
    run: ThreadRun,
    batch: Batch,
    order: EffectOrder,
    mayHaveRun: boolean,
  ): Promise<Arrived> {
    const { onCrashPoint } = this.#host;
    run.isHeld = () => this.#isHeld(held);
    await onCrashPoint(`before effect ${order.kind}`);
    if (!held.isSafelyHeld) await this.#holdOn(held, run, order);
    if (run.abort.signal.aborted) return await cutOff(held, run, batch, mayHaveRun);
    const outcome = await traceEffect(held, run, order, () => run.attempt(() => run.carryOut.perform(order)));
    await onCrashPoint(`after effect ${order.kind}`);
    if (!outcome) return await cutOff(held, run, batch, true);
    const isOfModel = order.kind === "call_model" || order.kind === "summarize";
    return isOfModel ? attempted(outcome, run, held.state, this.#host.now()) : withControl(outcome, run.left);
  }

  /** Nothing is begun without a lease that holds for a while: a process that slept may have lost it. */
  async #holdOn(held: HeldThread, run: ThreadRun, order: EffectOrder): Promise<void> {
    if (!(await this.#isHeld(held))) throw new LeaseLost(`Thread ${held.id} is held by somebody else.`);
    if (order.kind !== "run_tool") return;
    // It begins later than was written down: others must wait longer before they take it for given up.
    const again = new Batch(held.from);
    again.calls.push(begunCall(this.#host, held.state, run));
    await this.#commit(held, run, again, "running");
  }

  /** Renews the lease; one that is lost cuts off what is under way. */
  async #isHeld(held: HeldThread): Promise<boolean> {
    const at = momentNow();
    const { engine } = this.#host.stores;
    const renewed = await engine.renew(this.#claim.worker, [held.id], this.#host.leaseMs * 1000);
    const isHeld = renewed.some(({ id, epoch }) => id === held.id && epoch === held.epoch);
    if (isHeld) held.renewed(at);
    else this.lose();
    return isHeld;
  }

  /** Lays the thread down until somebody brings what its call waits for. */
  async #park(held: HeldThread, run: ThreadRun, batch: Batch): Promise<void> {
    const { state } = held;
    if (!state) throw new Error(`Thread ${held.id} has no state to park in.`);
    const { sealing } = this.#host;
    const { request, shown } = requestOf(state, run.working, { cast: run.cast, subject: held.subject, sealing });
    batch.opened = request;
    if (request.kind === "approval") batch.notes.push(requestNote(request));
    const outcome = waitingOutcome(state, { request_id: request.id, kind: request.kind, shown });
    // Whoever sent the message waits for what comes of it, and that is for the child to say first.
    const told = request.kind === "child" ? null : JSON.stringify(outcome);
    batch.run = { ...batch.run, status: outcome.status, outcome: told, ended: false };
    const expiresAfter = request.expires_after === null ? null : request.expires_after / 1000;
    await this.#commit(held, run, batch, "waiting", { dueAfter: unlessStopping(held, batch, expiresAfter) });
  }

  /** The run is over. True when another one is to follow at once. */
  async #end(held: HeldThread, run: ThreadRun, batch: Batch): Promise<boolean> {
    const { state } = held;
    if (!state) throw new Error(`Thread ${held.id} has no state to end in.`);
    const left = held.entries.filter(({ seq }) => !batch.drained.includes(seq));
    // A summary is written late and stands first: it is no message of the run.
    const own = held.seqs.filter((seq) => seq >= held.runFrom && seq !== batch.summarySeq).length;
    const outcome = await sessionOutcome(this.#host, held, batch, endedOutcome(state, run.working, own));
    batch.run = { ...batch.run, status: outcome.status, outcome: JSON.stringify(outcome), ended: true };
    const isStopped = staysStopped(left, held.stoppingAt);
    await endWrites(this.#host, held, run, batch, { outcome, isStopped: outcome.interrupted !== undefined });
    await keepTranscript(this.#host, held, batch, held.runFrom, run);
    const isOver = held.isTerminated || batch.writes.some(({ write }) => write === "terminate");
    const goesOn = !isOver && !isStopped && (hasWork(left) || batch.queued.some(isWorkKind));
    const status: ThreadStatus = goesOn ? "running" : isStopped ? "stopped" : "idle";
    // What was to be changed after the run is changed now; work that is kept has to wait.
    const dueAfter = left.every(isWork) ? null : 0;
    await this.#commit(held, run, batch, status, goesOn ? undefined : { dueAfter });
    this.#run = undefined;
    return goesOn;
  }

  async #commit(
    held: HeldThread,
    run: ThreadRun,
    batch: Batch,
    status: ThreadStatus,
    settling?: Settling,
  ): Promise<void> {
    await held.commit(batch, run.working, status, settling);
    this.#unstored = undefined;
    run.trace?.committed(batch);
    await tellCreated(this.#host, held, run, batch);
    for (const { event, payload } of batch.notices) run.tell(event, payload);
    forget(run.working);
  }
}
