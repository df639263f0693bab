// A thread that this worker holds: what is stored of it, kept in step with every commit.
import type { Claimed } from "../backend/engine.ts";
import type { LoadedThread, Thread, ThreadStatus } from "../backend/thread-rows.ts";
import { nextHash, notesHash } from "../contracts/audit/chain.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { type Moment, momentNow, passed } from "../engine/moment.ts";
import { CommitConflict, LeaseLost, retryWhileDatabaseDown } from "../engine/retry-commit.ts";
import { packRecords } from "../loop/packed-records.ts";
import { initialState, type State } from "../loop/state.ts";
import type { Working } from "../loop/working.ts";
import type { Batch, OuterRows } from "./batch.ts";
import { erasureOf, isEnd, isProgress, isSettled, pointOf, type Settling, tellOthers } from "./commit-parts.ts";
import { type ReadEntry, readEntry } from "./entries.ts";
import { SharedFunds } from "./funds/shared-funds.ts";
import { readChildHooks } from "./hooks/child-hooks.ts";
import type { ParentHook } from "./hooks/hook-set.ts";
import type { Host } from "./host.ts";
import { KeptMemory } from "./kept-memory.ts";
import { type Subject, subjectOf } from "./subject.ts";
import { readFrames } from "./transcript.ts";
import { verifyFold } from "./verify-fold.ts";

export class HeldThread {
  readonly id: string;
  /** Another one once the thread was handed over. */
  agent: string;
  readonly epoch: number;
  readonly isTerminated: boolean;
  /** The lease was given back, or is about to be: whoever looks for it and finds none has lost nothing. */
  isReleased = false;
  /** The number of the wish to stop with which it was stopped; null when it is not stopped. */
  readonly stoppedAt: number | null;
  /** The number of the wish with which somebody stops the run that is under way, which also keeps the queue. */
  stoppingAt: number | null = null;
  /** What waits in the inbox, as far as it is known. */
  entries: readonly ReadEntry[] = [];
  run: number;
  steps: number;
  state: State | null;
  seqs: number[] = [];
  /** Of the transcripts that wait while a prompt speaks for a call, the outermost first. */
  readonly outer: OuterRows[] = [];
  /** The first message of the current run. */
  runFrom = 0;
  /** Where the current run stands in a trace, if it does. */
  trace: string | undefined;
  readonly #cut = new AbortController();
  readonly #letGo = new AbortController();
  readonly loaded: LoadedThread;
  /** What is stored of the working memory. */
  readonly kept: KeptMemory;
  /** Whom it acts for. */
  readonly subject: Subject;
  /** Told of every commit. */
  onCommit: () => void = () => undefined;
  /** Hooks that its children install on it. */
  childHooks: readonly ParentHook[] = [];
  /** What it draws on together with others. */
  readonly funds: SharedFunds | null;
  readonly #host: Host;
  readonly #worker: string;
  #nextSeq: number;
  #nextMessage: number;
  #tailFrom: number;
  #summarySeq: number | null;
  #lastHash: string;
  #wakeRev: number;
  /** When the lease was last known to be whole. */
  #heldSince: Moment;
  #runStatus: string | null = null;

  private constructor(host: Host, worker: string, claimedAt: Moment, loaded: LoadedThread, stoppedAt: number | null) {
    const { thread } = loaded;
    this.#host = host;
    this.#worker = worker;
    this.loaded = loaded;
    this.kept = new KeptMemory(host.sealing, loaded);
    this.subject = subjectOf(agentNamed(host, thread.agent), loaded.subject);
    this.id = thread.id;
    this.agent = thread.agent;
    this.epoch = loaded.epoch;
    this.isTerminated = thread.terminated_at !== null;
    this.stoppedAt = stoppedAt;
    this.run = thread.run;
    this.steps = thread.steps;
    // What an earlier version did not know of yet is as it was at the beginning.
    this.state = loaded.state === null ? null : { ...initialState, ...(JSON.parse(loaded.state) as State) };
    this.funds = thread.budget === null ? null : new SharedFunds(thread.budget, this.state);
    this.#nextSeq = thread.next_seq;
    this.#nextMessage = thread.next_message;
    this.#tailFrom = loaded.tail_from;
    this.#summarySeq = loaded.summary_seq;
    this.#lastHash = loaded.last_hash;
    this.#wakeRev = loaded.wake_rev;
    this.#heldSince = claimedAt;
  }

  /** `claimedAt` is a time before the claim, on this process's own clocks. */
  static async load(host: Host, worker: string, claimed: Claimed, claimedAt: Moment): Promise<HeldThread> {
    const loaded = await host.stores.threads.load(claimed.id);
    if (!loaded || loaded.epoch !== claimed.epoch)
      throw new LeaseLost(`Thread ${claimed.id} is held by somebody else.`);
    const isStopped = loaded.thread.status === "stopped";
    const stoppedAt = isStopped ? await host.stores.inbox.lastStop(claimed.id) : null;
    const held = new HeldThread(host, worker, claimedAt, loaded, stoppedAt);
    await held.readInbox();
    held.childHooks = await readChildHooks(host, claimed.id);
    return held;
  }

  /** How many commits there were. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  get nextMessage(): number {
    return this.#nextMessage;
  }

  get wakeRev(): number {
    return this.#wakeRev;
  }

  /** What a batch starts from. */
  get from() {
    const { seqs, outer } = this;
    return { nextMessage: this.#nextMessage, tailFrom: this.#tailFrom, summarySeq: this.#summarySeq, seqs, outer };
  }

  /** As it was loaded, with the agent that it has now. */
  get thread(): Thread {
    return { ...this.loaded.thread, agent: this.agent };
  }

  /** Where in the transcript the messages of the current run begin. */
  get firstOfRun(): number {
    const index = this.seqs.findIndex((seq) => seq >= this.runFrom && seq !== this.#summarySeq);
    return index === -1 ? this.seqs.length : index;
  }

  /** The transcript of the thread, and of each prompt that speaks for a call; rows are noted for those that wait. */
  readTranscripts(): readonly (readonly Message[])[] {
    const { transcripts, seqs, outer } = readFrames(this.loaded.messages, this.state?.frames ?? []);
    this.outer.splice(0, this.outer.length, ...outer);
    this.seqs = seqs;
    return transcripts;
  }

  /** Fires when the worker lets go of the thread. */
  get givenUp(): AbortSignal {
    return this.#letGo.signal;
  }

  /** The worker has let go of the thread: a commit that does not come through is not tried again. */
  get isGivenUp(): boolean {
    return this.#letGo.signal.aborted;
  }

  giveUp(): void {
    this.#letGo.abort();
  }

  /** Fires when somebody wants the thread to stop while an effect of it is at work. */
  get effectCut(): AbortSignal {
    return this.#cut.signal;
  }

  cutEffect(): void {
    this.#cut.abort();
  }

  /** True while the lease is certain to hold for a while: no effect is begun without that. */
  get isSafelyHeld(): boolean {
    return passed(this.#heldSince, momentNow()) < (this.#host.leaseMs * 2) / 3;
  }

  /** The worker has renewed its leases, this one among them, at that time. */
  renewed(at: Moment): void {
    this.#heldSince = at;
  }

  async readInbox(): Promise<void> {
    this.#host.news?.delete(this.id);
    this.entries = (await this.#host.stores.inbox.waiting(this.id)).map(readEntry);
  }

  /** False when nothing can have come in since the inbox was read: only this process could have left it. */
  get mayHaveNews(): boolean {
    return this.#host.news?.has(this.id) ?? true;
  }

  /**
   * Commits a batch; nothing of it is acted upon before. Throws `LeaseLost` or `CommitConflict`. While the database is away
   * it tries again: what was done must not be forgotten because it could not be written down at once.
   */
  async commit(batch: Batch, working: Working | null, status: ThreadStatus, settling?: Settling): Promise<void> {
    const { stores, leaseMs, onCrashPoint, progress } = this.#host;
    const isOfRun = batch.records.length > 0;
    const records = packRecords(batch.records, batch.facts);
    const notes = batch.notes.length > 0 ? JSON.stringify(batch.notes) : null;
    const salt = notes === null ? null : crypto.randomUUID();
    const link = {
      ...{ seq: this.#nextSeq, run: isOfRun ? this.run : 0, step: this.steps, records },
      notes_hash: notes === null || salt === null ? null : notesHash(salt, notes),
      messages_from: this.#nextMessage,
      messages: batch.messages.map((message) => message.hash),
      ...{ tail_from: batch.tailFrom, summary_seq: batch.summarySeq, settled: isSettled(this.state) },
    };
    const hash = nextHash(this.#lastHash, link);
    const isOver = this.state === null || this.state.position === "ended";
    const commit = {
      id: crypto.randomUUID(),
      thread_id: this.id,
      worker: this.#worker,
      epoch: this.epoch,
      seq: this.#nextSeq,
      lease_us: leaseMs * 1000,
      status,
      state: this.state && JSON.stringify(this.state),
      ...this.kept.next(batch, isOver ? null : working, { from: this.runFrom, trace: this.trace }),
      run: this.run,
      steps: this.steps,
      progresses: isProgress(batch),
      next_message: batch.nextMessage,
      tail_from: batch.tailFrom,
      summary_seq: batch.summarySeq,
      event: { ...link, notes, salt, hash },
      messages: batch.messages,
      erasure: batch.erasure ? erasureOf(batch.erasure) : undefined,
      drained: batch.drained,
      queued: batch.queued,
      writes: batch.writes,
      run_change: this.#changed(batch),
      calls: batch.calls,
      opened_requests: batch.opened ? [batch.opened] : [],
      closed_requests: batch.closed ? [batch.closed] : [],
      budget_change: this.funds?.changeTo(this.state) ?? null,
      settle: settling ? { wake_rev: this.#wakeRev, due_after: microseconds(settling.dueAfter) } : null,
    };
    const point = pointOf(batch, settling);
    await onCrashPoint(`before commit ${point}`);
    const sentAt = momentNow();
    this.isReleased = settling !== undefined;
    const committed = await retryWhileDatabaseDown(
      () => stores.threads.commit(commit),
      () => this.isGivenUp,
    );
    if (committed.outcome === "lost") {
      this.#host.counters.refused_commits++;
      throw new LeaseLost(`Thread ${this.id} is held by somebody else.`);
    }
    if (committed.outcome === "overtaken") {
      this.#host.counters.overtaken_commits++;
      this.isReleased = false;
      throw new CommitConflict(`Thread ${this.id} was changed from outside.`);
    }
    this.onCommit();
    this.#nextSeq++;
    this.#nextMessage = batch.nextMessage;
    this.#tailFrom = batch.tailFrom;
    this.#summarySeq = batch.summarySeq;
    this.#lastHash = hash;
    this.funds?.committed(this.state);
    this.#heldSince = sentAt;
    this.entries = this.entries.filter(({ seq }) => !batch.drained.includes(seq));
    await onCrashPoint(`after commit ${point}`);
    try {
      // Before anybody is told of the commit: whoever knows of it may change what is stored.
      if (this.#host.verifies && isOfRun) await verifyFold(stores.threads, this, commit.state);
    } finally {
      progress.changed(this.id, settling !== undefined || (batch.run?.outcome ?? null) !== null);
      tellOthers(this.#host, this.id, batch);
    }
    const isWoken = committed.wake_rev !== this.#wakeRev || batch.queued.length > 0 || batch.writes.some(isEnd);
    if (isWoken && !settling) await this.#hear(committed.wake_rev);
  }

  /** Lays the thread down as it is, until it is woken or that time has passed. */
  async giveBack(dueAfter: number | null): Promise<void> {
    const { id, epoch, wakeRev } = this;
    const { stores, onCrashPoint } = this.#host;
    await onCrashPoint("before give back");
    this.isReleased = true;
    await stores.engine.giveBack({ id, epoch, wake_rev: wakeRev }, microseconds(dueAfter));
    await onCrashPoint("after give back");
  }

  /** Looks at what has come in. If that cannot be read now, it is looked for after the next commit. */
  async #hear(wakeRev: number): Promise<void> {
    try {
      await this.readInbox();
      this.#wakeRev = wakeRev;
    } catch (thrown) {
      this.#host.report(thrown, this.id);
    }
  }

  /** How the run stands, when that is news. */
  #changed({ run }: Batch) {
    if (!run || (run.key === undefined && run.status === this.#runStatus && run.outcome === null)) return null;
    this.#runStatus = run.status;
    return run;
  }
}

function agentNamed({ agents }: Host, slug: string) {
  const agent = agents.get(slug);
  if (!agent) throw new Error(`Nobody here knows the agent ${slug}.`);
  return agent;
}

export function microseconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.max(0, Math.ceil(milliseconds * 1000));
}
