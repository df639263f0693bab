// The durable driver of the loop: a thread from the moment a worker takes it until it is laid down again. Between two
// effects there is always a commit, and nothing is acted upon before it.
import type { Claimed } from "../backend/engine.ts";
import type { StoredRequest } from "../backend/request-store.ts";
import type { ThreadStatus } from "../backend/thread-store.ts";
import * as message from "../contracts/conversation/message.ts";
import { advance } from "../loop/advance.ts";
import { forget } from "../loop/keep-working.ts";
import type { Arrived, EffectOrder, Inbox, Next, Question, Stop } from "../loop/next.ts";
import { initialState, type State } from "../loop/state.ts";
import { applyChanges } from "./apply-changes.ts";
import { Batch } from "./batch.ts";
import { broughtFor } from "./brought.ts";
import { drain, hasWork, isWork, readEntry, staysStopped, stopsIn } from "./entries.ts";
import { HeldThread, LeaseLost, microseconds, Overtaken, type Settling } from "./held-thread.ts";
import type { Host } from "./host.ts";
import { idempotencyKey, longestWorkOf, preparedCall, resolveUnsettled } from "./ledger.ts";
import { retryAfter } from "./model-retry.ts";
import { endedOutcome, waitingOutcome } from "./outcome.ts";
import { bindingOf, requestOf } from "./request-of.ts";
import { type ThreadRun, takeUpRun } from "./thread-run.ts";

/** What the worker decides about an activation while it goes on. */
export type Activation = {
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
    lookAtInbox: () => void driver.lookAtInbox(),
    renewed: (at) => driver.held?.renewed(at),
    lost: () => driver.lose(),
    done: driver.run(),
  };
}

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
  /** What came of an effect and is not committed yet. It must not be forgotten because a commit was overtaken. */
  #unstored: { readonly arrived: Arrived; readonly queued: ThreadRun["queued"]; readonly seq: number } | undefined;

  constructor(host: Host, claim: Claim) {
    this.#host = host;
    this.#claim = claim;
  }

  async run(): Promise<void> {
    for (;;) {
      try {
        await this.#once();
        return;
      } catch (thrown) {
        if (thrown instanceof LeaseLost) return;
        if (!(thrown instanceof Overtaken)) throw thrown;
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
    const stop = this.#takeStop(held, batch, true);
    if (state.position === "call.parked") return await this.#startParked(held, run, batch, state, stop);
    const unstored = this.#unstored;
    if (unstored?.seq === state.seq) {
      run.queued = unstored.queued;
      return { run, batch, arrived: unstored.arrived };
    }
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
  async #startParked(
    held: HeldThread,
    run: ThreadRun,
    batch: Batch,
    state: State,
    stop: Stop | undefined,
  ): Promise<Start | undefined> {
    const { waiting } = state;
    if (!waiting) throw new Error(`Thread ${held.id} is parked and waits for nothing.`);
    const { requests } = this.#host.stores;
    const request = await requests.get(waiting.request_id);
    const status = request?.status ?? "cancelled";
    for (const entry of held.entries) if (entry.kind === "answer") batch.drained.push(entry.seq);
    if (stop) {
      if (request) batch.closed = { id: request.id, from: status, to: "cancelled" };
      return { run, batch, arrived: stop };
    }
    const left = await this.#timeLeft(request);
    if (status === "pending" && (left === null || left > 0)) {
      await this.#giveBack(held, left);
      return undefined;
    }
    if (request) batch.closed = { id: request.id, from: status, to: status === "pending" ? "expired" : "settled" };
    const isGenuine = request?.binding === bindingOf(run.working, waiting.request_id, this.#host.sealing);
    const outcome = broughtFor(request, isGenuine);
    return { run, batch, arrived: { call: waiting.call, request_id: waiting.request_id, outcome } };
  }

  async #timeLeft(request: StoredRequest | undefined): Promise<number | null> {
    if (request?.expires_at == null) return null;
    return Math.max(0, (request.expires_at - (await this.#host.stores.requests.now())) / 1000);
  }

  /** A tool call that somebody began and nobody settled. */
  async #startUnsettled(held: HeldThread, run: ThreadRun, batch: Batch, state: State): Promise<Start | undefined> {
    const { stores, isShared, reached } = this.#host;
    const { call } = run.working;
    if (!call) throw new Error(`Thread ${held.id} runs a tool and has no open call.`);
    const prepared = preparedCall(call);
    await reached("before reconcile");
    const resolution = await resolveUnsettled({
      tool: run.agent.tools.get(prepared.tool_name),
      call: prepared,
      stored: await stores.threads.call(held.id, held.run, call.number),
      threadId: held.id,
      key: idempotencyKey(state.key, call.number),
      signal: run.abort.signal,
      now: () => stores.requests.now(),
      isShared,
    });
    await reached("after reconcile");
    switch (resolution.kind) {
      case "arrived":
        return { run, batch, arrived: resolution.outcome };
      case "ask_later":
        await this.#giveBack(held, resolution.after);
        return undefined;
      case "rerun":
        this.#begin(held, run, batch);
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
      arrived = this.#takeStop(held, batch, false) ?? (await this.#perform(held, run, batch, order));
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
          this.#takeOffered(batch, fact);
          break;
        case "model.accepted":
          held.steps++;
          this.#host.liveTexts.end(held.id);
          break;
        case "begun":
          if (fact.effect.kind === "run_tool") this.#begin(held, run, batch);
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

  #offered = { seqs: [] as readonly number[], messages: 0, calls: 0 };

  /** An entry counts as taken only when the machine has taken it. */
  #takeOffered(batch: Batch, taken: { readonly messages: number; readonly calls: number }): void {
    const { seqs, messages, calls } = this.#offered;
    if (taken.messages !== messages || taken.calls !== calls)
      throw new Error("What waits in the inbox cannot be read.");
    batch.drained.push(...seqs.filter((seq) => seq >= 0));
    batch.queued.splice(0, seqs.filter((seq) => seq < 0).length);
  }

  /** Writes into the ledger that the open call begins. */
  #begin(held: HeldThread, run: ThreadRun, batch: Batch): void {
    const { call } = run.working;
    if (!call || !held.state) throw new Error(`Thread ${held.id} begins no call.`);
    const { tool_name, parameters } = preparedCall(call);
    const key = idempotencyKey(held.state.key, call.number);
    const longestMs = longestWorkOf(run.agent.tools.get(tool_name));
    batch.calls.push({
      change: "begun",
      number: call.number,
      tool_call_id: call.id,
      tool_name,
      idempotency_key: key,
      arguments_hmac: this.#host.sealing.bind(parameters, key),
      certain_after: microseconds(Math.max(longestMs, this.#host.leaseMs)) ?? 0,
    });
  }

  async #answer(held: HeldThread, run: ThreadRun, batch: Batch, question: Question): Promise<Arrived> {
    if (question.hook === "inbox") return { returned: await this.#drain(held, batch) };
    const answered = await run.attempt(() => run.carryOut.answer(question));
    return answered ?? (await this.#cutOff(held, run, batch, false));
  }

  /** What waits for the run, taken in with this batch; what its own tools have just queued comes last. */
  async #drain(held: HeldThread, batch: Batch): Promise<Inbox> {
    try {
      // What came while an effect went on belongs into the next request too.
      await held.readInbox();
    } catch {
      // The database is away for a moment; the commit waits for it, and what came is taken in with the next turn.
    }
    const waiting = held.entries.filter(({ seq }) => !batch.drained.includes(seq));
    // Not stored yet, so without a number: they are in the inbox only if they stay there.
    const queued = batch.queued.map(({ kind, body }, index) => readEntry({ seq: -1 - index, kind, body }));
    const { seqs, messages, tools } = drain([...waiting, ...queued]);
    const calls = tools.map((sealed) => JSON.parse(this.#host.sealing.open(sealed, held.id)));
    this.#offered = { seqs, messages: messages.length, calls: calls.length };
    return { messages, calls };
  }

  /** Does what was ordered; that it begins is committed. */
  async #perform(held: HeldThread, run: ThreadRun, batch: Batch, order: EffectOrder): Promise<Arrived> {
    const { reached } = this.#host;
    if (!held.isSafelyHeld) await this.#holdOn(held);
    await reached(`before effect ${order.kind}`);
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
  async #holdOn(held: HeldThread): Promise<void> {
    const at = performance.now();
    const { engine } = this.#host.stores;
    const renewed = await engine.renew(this.#claim.worker, [held.id], this.#host.leaseMs * 1000);
    if (!renewed.some(({ id, epoch }) => id === held.id && epoch === held.epoch)) {
      throw new LeaseLost(`Thread ${held.id} is held by somebody else.`);
    }
    held.renewed(at);
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
