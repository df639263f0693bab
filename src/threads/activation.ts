// The durable driver of the loop: a thread from the moment a worker takes it until it is laid down again. Between two
// effects there is always a commit, and nothing is acted upon before it.
import type { Claimed } from "../backend/engine.ts";
import type { ThreadStatus } from "../backend/thread-store.ts";
import * as message from "../contracts/conversation/message.ts";
import { advance } from "../loop/advance.ts";
import { isProposed } from "../loop/approve.ts";
import { forget } from "../loop/keep-working.ts";
import type { Arrived, EffectOrder, Next, Question, Stop } from "../loop/next.ts";
import { initialState, type State } from "../loop/state.ts";
import { applyChanges } from "./apply-changes.ts";
import { Batch } from "./batch.ts";
import { broughtFor, timeLeft } from "./brought.ts";
import { hasWork, isWork, staysStopped, stopsIn } from "./entries.ts";
import { HeldThread, microseconds, type Settling } from "./held-thread.ts";
import type { Host } from "./host.ts";
import { begunCall, resolveInFlight } from "./in-flight.ts";
import { InboxOffer } from "./inbox-offer.ts";
import { retryAfter } from "./model-retry.ts";
import { endedOutcome, waitingOutcome } from "./outcome.ts";
import { LeaseLost, Overtaken } from "./persistently.ts";
import { bindingOf, requestOf } from "./request-of.ts";
import { type ThreadRun, takeUpRun } from "./thread-run.ts";

/** What the worker decides about an activation while it goes on. */
export type Activation = {
  /** Of the lease under which it works. */
  readonly epoch: number;
  /** Somebody has left something for the thread that may concern what it is doing. */
  lookAtInbox(): void;
  /** The lease was renewed at that time, or is lost. */
  renewed(at: number): void;
  lost(): void;
  /** Resolves when the thread has been laid down or given up. */
  readonly done: Promise<void>;
};

type Claim = {
  readonly claimed: Claimed;
  readonly worker: string;
  /** A time before the claim, on this process's steady clock. */
  readonly claimedAt: number;
  /** True when others are due and this thread has had its share. */
  readonly isSliceOver: (commits: number) => boolean;
};

export function activate(host: Host, claim: Claim): Activation {
  const driver = new Driver(host, claim);
  return {
    epoch: claim.claimed.epoch,
    lookAtInbox: () => void driver.lookAtInbox(),
    renewed: (at) => driver.held?.renewed(at),
    lost: () => driver.lose(),
    done: driver.run(),
  };
}

/** How often a commit is tried again that fails for a reason nobody thought of, and how long to wait in between. */
const MOST_TRIES = 8;
const PAUSE_MS = 250;

/** What a thread goes on with, and what goes into the same commit. */
type Start = { readonly run: ThreadRun; readonly batch: Batch; readonly arrived: Arrived | undefined };

class Driver {
  held: HeldThread | undefined;
  readonly #host: Host;
  readonly #claim: Claim;
  #run: ThreadRun | undefined;
  #isLost = false;
  /** The number of the wish with which somebody stopped the run, which also keeps the queue. */
  #stoppedAt: number | null = null;
  #commits = 0;
  /** The call that is about to run again may have run before. */
  #mayHaveRun = false;
  /** What came of an effect and is not committed yet. It must not be forgotten because a commit was overtaken. */
  #unstored: { readonly arrived: Arrived; readonly queued: ThreadRun["queued"]; readonly seq: number } | undefined;

  readonly #offer: InboxOffer;

  constructor(host: Host, claim: Claim) {
    this.#host = host;
    this.#claim = claim;
    this.#offer = new InboxOffer(host.sealing);
  }

  async run(): Promise<void> {
    for (let failures = 0; ; ) {
      try {
        await this.#once();
        return;
      } catch (thrown) {
        if (thrown instanceof LeaseLost) return;
        if (thrown instanceof Overtaken) continue;
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
    if (this.held) this.held.isGivenUp = true;
    this.#run?.abort.abort();
  }

  /** A wish to stop cuts off what is under way; anything else waits for the next turn. */
  async lookAtInbox(): Promise<void> {
    const { held } = this;
    const run = this.#run;
    if (!held || !run) return;
    try {
      const waiting = await this.#host.stores.inbox.waiting(held.id);
      if (waiting.some(({ kind }) => kind === "stop")) run.abort.abort();
    } catch {
      // The database is away for a moment; the entry is found with the next commit.
    }
  }

  async #once(): Promise<void> {
    const { worker, claimed, claimedAt } = this.#claim;
    this.#stoppedAt = null;
    let held = await HeldThread.load(this.#host, worker, claimed, claimedAt);
    this.held = held;
    for (;;) {
      const start = await this.#start(held);
      if (!start || !(await this.#drive(held, start))) return;
      // Another run follows at once: it begins from what is stored, like every other.
      held = await HeldThread.load(this.#host, worker, claimed, performance.now());
      this.held = held;
    }
  }

  /** What there is to do; undefined when there is nothing, and the thread was laid down. */
  async #start(held: HeldThread): Promise<Start | undefined> {
    const { state } = held;
    if (!state || state.position === "ended") return await this.#startIdle(held);
    const run = takeUpRun(this.#host, held, false);
    this.#run = run;
    const batch = new Batch(held.from);
    if (state.position === "call.parked") return await this.#startParked(held, run, batch, state);
    const unstored = this.#unstored;
    if (unstored?.seq === state.seq) {
      // A wish to stop that came meanwhile is found after the commit, unless it is what has arrived.
      if ("stop" in unstored.arrived) this.#takeStop(held, batch, unstored.arrived.performed);
      run.queued = unstored.queued;
      return { run, batch, arrived: unstored.arrived };
    }
    const stop = this.#takeStop(held, batch, true);
    if (stop) return { run, batch, arrived: stop };
    if (state.in_flight?.kind === "run_tool") return await this.#startUnsettled(held, run, batch, state);
    return { run, batch, arrived: undefined };
  }

  /** A new run if something waits for one; before that, what was asked to be changed between runs. */
  async #startIdle(held: HeldThread): Promise<Start | undefined> {
    const batch = new Batch({ ...held.from, seqs: [] });
    const isStopped = staysStopped(held.entries, held.stoppedAt);
    const taken = held.entries.filter((entry) => !isWork(entry));
    for (const { seq } of taken) batch.drained.push(seq);
    await applyChanges(this.#host, held, taken, batch);
    const rests = held.isTerminated || isStopped || !hasWork(held.entries);
    if (rests && batch.isEmpty) {
      await this.#giveBack(held, null);
      return undefined;
    }
    if (rests || batch.messages.length > 0) {
      const status = isStopped ? "stopped" : "idle";
      await held.commit(batch, null, rests ? status : "running", rests ? { dueAfter: null } : undefined);
      // What was changed is read again before a run begins with it.
      if (rests) return undefined;
      throw new Overtaken("The transcript was changed.");
    }
    held.run++;
    held.state = initialState;
    const run = takeUpRun(this.#host, held, true);
    this.#run = run;
    const first = new Batch(held.from);
    first.drained.push(...batch.drained);
    return { run, batch: first, arrived: undefined };
  }

  /** A parked call goes on with its answer, or when its time is up; a stop ends it. Otherwise it stays where it is. */
  async #startParked(held: HeldThread, run: ThreadRun, batch: Batch, state: State): Promise<Start | undefined> {
    const { waiting } = state;
    if (!waiting) throw new Error(`Thread ${held.id} is parked and waits for nothing.`);
    const { requests } = this.#host.stores;
    const request = await requests.get(waiting.request_id);
    const status = request?.status ?? "cancelled";
    for (const entry of held.entries) if (entry.kind === "answer") batch.drained.push(entry.seq);
    const { call } = run.working;
    // Whoever brought a result has done the work: that stands, and the stop comes after it.
    const isResult = status === "answered" && call !== null && !isProposed(call);
    const stop = isResult ? undefined : this.#takeStop(held, batch, true);
    if (stop) {
      if (request) batch.closed = { id: request.id, from: status, to: "cancelled" };
      return { run, batch, arrived: stop };
    }
    const left = request?.expires_at == null ? null : timeLeft(request.expires_at, await requests.now());
    if (status === "pending" && (left === null || left > 0)) {
      await this.#giveBack(held, left);
      return undefined;
    }
    if (request) batch.closed = { id: request.id, from: status, to: status === "pending" ? "expired" : "settled" };
    const isGenuine = request?.binding === bindingOf(run.working, waiting.request_id, this.#host.sealing);
    const outcome = broughtFor(request, isGenuine);
    return { run, batch, arrived: { call: waiting.call, request_id: waiting.request_id, outcome } };
  }

  /** A tool call that somebody began and nobody settled. */
  async #startUnsettled(held: HeldThread, run: ThreadRun, batch: Batch, state: State): Promise<Start | undefined> {
    const resolution = await resolveInFlight(this.#host, held, run, state);
    switch (resolution.kind) {
      case "arrived":
        run.queued = resolution.queued;
        return { run, batch, arrived: resolution.outcome };
      case "ask_later":
        await this.#giveBack(held, resolution.after);
        return undefined;
      case "cut_off":
        return { run, batch, arrived: await this.#cutOff(held, run, batch, true) };
      case "rerun":
        this.#mayHaveRun = resolution.mayHaveRun;
        batch.calls.push(begunCall(this.#host, held.state, run));
        return { run, batch, arrived: undefined };
      default:
        return resolution satisfies never;
    }
  }

  /** Goes on until the thread is laid down (false) or its run has ended and another one waits (true). */
  async #drive(held: HeldThread, { run, batch: first, arrived: start }: Start): Promise<boolean> {
    let batch = first;
    let arrived = start;
    for (;;) {
      const next = await this.#advance(held, run, batch, arrived);
      switch (next.kind) {
        case "end":
          return await this.#end(held, run, batch);
        case "park":
          await this.#park(held, run, batch);
          return false;
        case "wait": {
          const dueAfter = Math.max(0, next.until - this.#host.now());
          if (batch.isEmpty) await this.#giveBack(held, dueAfter);
          else await this.#commit(held, run, batch, "waiting", { dueAfter });
          return false;
        }
        case "effect":
          break;
        default:
          throw new Error(`A step ended in ${next.kind}.`);
      }
      const { order } = next;
      const isOver = order.kind === "call_model" && this.#claim.isSliceOver(this.#commits);
      if (!batch.isEmpty || isOver)
        await this.#commit(held, run, batch, "running", isOver ? { dueAfter: 0 } : undefined);
      if (isOver) return false;
      batch = new Batch(held.from);
      const mayHaveRun = order.kind === "run_tool" && this.#mayHaveRun;
      this.#mayHaveRun = false;
      arrived = this.#takeStop(held, batch, mayHaveRun) ?? (await this.#perform(held, run, batch, order, mayHaveRun));
      this.#unstored = { arrived, queued: run.queued, seq: held.state?.seq ?? 0 };
    }
  }

  /** Steps the machine until it needs something outside; questions are answered within the same batch. */
  async #advance(held: HeldThread, run: ThreadRun, batch: Batch, arrived: Arrived | undefined): Promise<Next> {
    let brought = arrived;
    for (;;) {
      const step = advance(held.state ?? initialState, run.working, this.#host.now(), brought);
      held.state = step.state;
      batch.add(step);
      this.#account(held, run, batch, step.records);
      const { next } = step;
      if (next.kind === "consult") brought = await this.#answer(held, run, batch, next.question);
      else if (next.kind === "refuse") brought = { threw: next.error };
      else return next;
    }
  }

  /** Puts what the records say into the tables that others read. */
  #account(held: HeldThread, run: ThreadRun, batch: Batch, records: ReturnType<typeof advance>["records"]): void {
    for (const { fact } of records) {
      switch (fact.type) {
        case "flow.started":
          batch.run = { key: fact.key, status: "running", outcome: null, ended: false };
          break;
        case "inbox.drained":
          this.#offer.take(batch, fact);
          break;
        case "model.accepted":
          held.steps++;
          this.#host.liveTexts.end(held.id);
          break;
        case "begun":
          if (fact.effect.kind === "run_tool") batch.calls.push(begunCall(this.#host, held.state, run));
          break;
        case "call.waiting":
          batch.calls.push({ change: "waiting", number: fact.call });
          break;
        case "call.returned":
        case "call.approved":
          batch.run ??= { status: "running", outcome: null, ended: false };
          batch.queued.push(...run.queued);
          run.queued = [];
          break;
        default:
          break;
      }
    }
  }

  async #answer(held: HeldThread, run: ThreadRun, batch: Batch, question: Question): Promise<Arrived> {
    if (question.hook === "inbox") return { returned: await this.#offer.make(held, batch) };
    const answered = await run.attempt(() => run.carryOut.answer(question));
    return answered ?? (await this.#cutOff(held, run, batch, false));
  }

  /** Does what was ordered; that it begins is committed. */
  async #perform(
    held: HeldThread,
    run: ThreadRun,
    batch: Batch,
    order: EffectOrder,
    mayHaveRun: boolean,
  ): Promise<Arrived> {
    const { reached } = this.#host;
    run.isHeld = () => this.#isHeld(held);
    await reached(`before effect ${order.kind}`);
    if (!held.isSafelyHeld) await this.#holdOn(held, run, order);
    if (run.abort.signal.aborted) return await this.#cutOff(held, run, batch, mayHaveRun);
    const outcome = await run.attempt(() => run.carryOut.perform(order));
    await reached(`after effect ${order.kind}`);
    if (!outcome) return await this.#cutOff(held, run, batch, true);
    if ("threw" in outcome && (order.kind === "call_model" || order.kind === "summarize")) {
      const after = retryAfter(outcome.threw, held.state?.postponed?.times ?? 0, run.agent.retry);
      if (after !== undefined) return { postponed: { until: this.#host.now() + after } };
    }
    return outcome;
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
    const at = performance.now();
    const { engine } = this.#host.stores;
    const renewed = await engine.renew(this.#claim.worker, [held.id], this.#host.leaseMs * 1000);
    const isHeld = renewed.some(({ id, epoch }) => id === held.id && epoch === held.epoch);
    if (isHeld) held.renewed(at);
    else this.lose();
    return isHeld;
  }

  /** What was under way was let go, because somebody wants it to stop or because the lease is lost. */
  async #cutOff(held: HeldThread, run: ThreadRun, batch: Batch, performed: boolean): Promise<Stop> {
    if (!this.#isLost) await held.readInbox();
    const stop = this.#isLost ? undefined : this.#takeStop(held, batch, performed);
    if (!stop) throw new LeaseLost(`Thread ${held.id} is given up here.`);
    const said = performed && run.said !== "" ? message.text("assistant", run.said, { stopped: true }) : undefined;
    return said ? { ...stop, said } : stop;
  }

  /** The wish to stop, if there is one; its entries are taken with the batch. */
  #takeStop(held: HeldThread, batch: Batch, performed: boolean): Stop | undefined {
    const stops = stopsIn(held.entries);
    const last = stops.at(-1);
    if (!last) return undefined;
    for (const { seq } of stops) if (!batch.drained.includes(seq)) batch.drained.push(seq);
    this.#stoppedAt = last.seq;
    const metadata = { type: "run_stopped", interrupt_action: "cancel", source: "thread", status_kind: "stopped" };
    return { stop: message.text("system", last.body.reason, metadata), performed };
  }

  /** Lays the thread down until somebody brings what its call waits for. */
  async #park(held: HeldThread, run: ThreadRun, batch: Batch): Promise<void> {
    const { state } = held;
    if (!state) throw new Error(`Thread ${held.id} has no state to park in.`);
    const { request, shown } = requestOf(state, run.working, run.agent, this.#host.sealing);
    batch.opened = request;
    const outcome = waitingOutcome(state, { request_id: request.id, kind: request.kind, shown });
    batch.run = { ...batch.run, status: outcome.status, outcome: JSON.stringify(outcome), ended: false };
    const dueAfter = request.expires_after === null ? null : request.expires_after / 1000;
    await this.#commit(held, run, batch, "waiting", { dueAfter });
  }

  /** The run is over. True when another one is to follow at once. */
  async #end(held: HeldThread, run: ThreadRun, batch: Batch): Promise<boolean> {
    const { state } = held;
    if (!state) throw new Error(`Thread ${held.id} has no state to end in.`);
    const left = held.entries.filter(({ seq }) => !batch.drained.includes(seq));
    // A summary is written late and stands first: it is no message of the run.
    const own = held.seqs.filter((seq) => seq >= held.runFrom && seq !== batch.summarySeq).length;
    const outcome = endedOutcome(state, run.working, own);
    batch.run = { ...batch.run, status: outcome.status, outcome: JSON.stringify(outcome), ended: true };
    const isStopped = staysStopped(left, this.#stoppedAt);
    const goesOn = !held.isTerminated && !isStopped && (hasWork(left) || batch.queued.length > 0);
    const status: ThreadStatus = goesOn ? "running" : isStopped ? "stopped" : "idle";
    // What was to be changed after the run is changed now; work that is kept has to wait.
    const dueAfter = left.every(isWork) ? null : 0;
    await this.#commit(held, run, batch, status, goesOn ? undefined : { dueAfter });
    this.#run = undefined;
    this.#stoppedAt = null;
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
    this.#commits++;
    for (const { event, payload } of batch.notices) run.tell(event, payload);
    forget(run.working);
  }

  async #giveBack(held: HeldThread, dueAfter: number | null): Promise<void> {
    const { id, epoch, wakeRev } = held;
    const { stores, reached } = this.#host;
    await reached("before give back");
    await stores.engine.giveBack({ id, epoch, wake_rev: wakeRev }, microseconds(dueAfter));
    await reached("after give back");
  }
}
