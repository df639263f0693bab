// A run under the lease of this process: what is stored of it, kept in step with every commit.
import type { Claimed } from "../../backend/engine.ts";
import type { Entry } from "../../backend/inbox.ts";
import type { StoredSubject } from "../../backend/subject-store.ts";
import type { LoadedThread, Thread, ThreadStatus } from "../../backend/thread-rows.ts";
import type { StoredWorkflowRun, WorkflowReason, WorkflowStatus } from "../../backend/workflow-store.ts";
import type { Write } from "../../backend/write.ts";
import { nextHash } from "../../contracts/audit/chain.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import * as principals from "../../contracts/trust/principal.ts";
import { RUN_BODY, textDigest } from "../../contracts/workflows/step-digest.ts";
import { type Moment, momentNow, passed } from "../../engine/moment.ts";
import { CommitConflict, LeaseLost, retryWhileDatabaseDown } from "../../engine/retry-commit.ts";
import { contextOf } from "../machine/context.ts";
import type { Order } from "../machine/next.ts";
import { bodyOf, isParallel, kindOf, stepAt, type Working } from "../machine/working.ts";
import { KnownRun } from "./known-run.ts";
import { pointOf, type RunBatch } from "./run-batch.ts";
import { type OpenedBody, openRunBody } from "./run-body.ts";
import type { RunHost } from "./run-host.ts";
import { type RunState, readRunState } from "./run-state.ts";
import { digestsOf } from "./stored-bodies.ts";
import { createVerifyRun, type VerifyRun } from "./verify-run.ts";

/** `dueAfter`: milliseconds until the run is looked at again; null when it has to be woken. */
export type Settling = { readonly dueAfter: number | null };

/** How the run stands after a commit, as lists show it. */
export type Standing = { readonly status: WorkflowStatus; readonly reason: WorkflowReason | null };

export class LeasedRun {
  readonly id: string;
  readonly epoch: number;
  readonly body: OpenedBody;
  readonly stored: StoredWorkflowRun;
  readonly known: KnownRun;
  /** Who started the run: its steps act as this principal. */
  readonly principal: Principal;
  state: RunState;
  /** What waits in the inbox, oldest first. */
  entries: readonly Entry[] = [];
  /** The lease was given back, or is about to be. */
  isReleased = false;
  readonly #host: RunHost;
  readonly #worker: string;
  readonly #loaded: LoadedThread;
  readonly #givenUp = new AbortController();
  #nextSeq: number;
  #lastHash: string;
  #wakeRev: number;
  #leasedSince: Moment;
  #standing: Standing;
  #attempt: number;
  readonly #verify: VerifyRun | undefined;
  /** What stood there before the run began: the log tells of it with the first facts. */
  #taken: Readonly<Record<string, string>> | undefined;

  private constructor(
    host: RunHost,
    worker: string,
    claimedAt: Moment,
    parts: {
      readonly loaded: LoadedThread;
      readonly stored: StoredWorkflowRun;
    },
  ) {
    const { loaded, stored } = parts;
    const { thread } = loaded;
    this.#host = host;
    this.#worker = worker;
    this.#loaded = loaded;
    this.#leasedSince = claimedAt;
    this.#nextSeq = thread.next_seq;
    this.#lastHash = loaded.last_hash;
    this.#wakeRev = loaded.wake_rev;
    this.#attempt = Math.max(1, thread.run);
    this.#standing = { status: stored.status, reason: stored.reason };
    this.#verify = host.threads.verifies ? createVerifyRun(host.threads.stores.threads, thread.id) : undefined;
    this.id = thread.id;
    this.epoch = loaded.epoch;
    this.stored = stored;
    this.body = openRunBody(host.threads.sealing, thread.id, stored.body);
    this.state = readRunState(loaded.state);
    this.principal = loaded.subject
      ? principals.fromArray(JSON.parse(loaded.subject.principal))
      : principals.system("workflow");
    const isFirst = this.#attempt === 1;
    this.known = new KnownRun(host, { id: thread.id, body: this.body, machine: this.state.machine, isFirst });
  }

  /** `claimedAt` is a time before the claim, on this process's own clocks. */
  static async load(host: RunHost, worker: string, claimed: Claimed, claimedAt: Moment): Promise<LeasedRun> {
    const { threads, workflows } = host.threads.stores;
    const { id, epoch } = claimed;
    const [loaded, stored] = await Promise.all([threads.load(id), workflows.get(id)]);
    if (!loaded || loaded.epoch !== epoch) throw new LeaseLost(`Run ${id} is leased by another process.`);
    if (!stored) throw new Error(`The row ${id} is a run of no workflow.`);
    const run = new LeasedRun(host, worker, claimedAt, { loaded, stored });
    await Promise.all([run.known.readOpen(), run.#readTaken()]);
    await run.readInbox();
    return run;
  }

  /** The digests of what stands there before the run begins. */
  async #readTaken(): Promise<void> {
    const { machine } = this.state;
    if (machine.seq > 0) return;
    const isTaken = this.body.starts_at !== undefined;
    const rows = isTaken ? await this.#host.threads.stores.workflows.steps(this.id) : [];
    this.#taken = { ...digestsOf(rows), [RUN_BODY]: textDigest(this.stored.body) };
  }

  get working(): Working {
    return this.known.working;
  }

  /** Whom the run acts for, as it is stored. */
  get subject(): StoredSubject | null {
    return this.#loaded.subject;
  }

  get thread(): Thread {
    return this.#loaded.thread;
  }

  /** The run was deleted with what stands above it, or ended for good from outside. */
  get isTerminated(): boolean {
    return this.thread.terminated_at !== null;
  }

  /** The number of the attempt at the run: each time that failed steps are tried again it is another one. */
  get attempt(): number {
    return this.#attempt;
  }

  /** Another attempt begins with the next commit. */
  beginAttempt(): void {
    this.#attempt++;
  }

  /** What was ordered for a step that is open. */
  orderAt(path: string, attempt: number): Order {
    const step = bodyOf(this.working, path).resolved ?? stepAt(this.working, path);
    const isFanOut = isParallel(kindOf(this.working, step));
    const context = () => contextOf(this.working, path);
    return { path, attempt, kind: isFanOut ? "fan_out" : "run_step", step, context };
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Fires when this process gives the run up: nothing more is committed. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal;
  }

  giveUp(): void {
    this.#givenUp.abort();
  }

  /** True while the lease is certain to hold for a while: no effect is begun without that. */
  get isSafelyLeased(): boolean {
    return passed(this.#leasedSince, momentNow()) < (this.#host.threads.leaseMs * 2) / 3;
  }

  renewed(at: Moment): void {
    this.#leasedSince = at;
  }

  async readInbox(): Promise<void> {
    this.#host.threads.news?.delete(this.id);
    this.entries = await this.#host.threads.stores.inbox.waiting(this.id);
  }

  /**
   * Commits a batch; nothing of it is acted upon before. Throws `LeaseLost` or `CommitConflict`. While the database is away it
   * tries again: an outcome must not be lost because it could not be stored at once.
   */
  async commit(batch: RunBatch, standing: Standing, settling?: Settling): Promise<void> {
    const { stores, leaseMs, onCrashPoint, progress, counters } = this.#host.threads;
    const { machine } = this.state;
    const isFirst = machine.seq === batch.facts.length;
    const stepAt = (path: string) => this.known.written(path);
    const { writes, records } = batch.written(stepAt, isFirst ? this.#taken : undefined);
    const link = {
      ...{ seq: this.#nextSeq, run: this.#attempt, step: machine.ended, records, notes_hash: null },
      ...{ messages_from: 0, messages: [], tail_from: 0, summary_seq: null, settled: false },
    };
    const hash = nextHash(this.#lastHash, link);
    const isOver = machine.status !== "running";
    const commit = {
      id: crypto.randomUUID(),
      thread_id: this.id,
      worker: this.#worker,
      epoch: this.epoch,
      seq: this.#nextSeq,
      lease_us: leaseMs * 1_000,
      status: (settling ? (isOver ? "idle" : "waiting") : "running") satisfies ThreadStatus as ThreadStatus,
      state: JSON.stringify(this.state),
      ...{ working: null, run: this.#attempt, steps: machine.ended },
      progresses: batch.progresses,
      ...{ next_message: 0, tail_from: 0, summary_seq: null },
      event: { ...link, notes: null, salt: null, hash },
      messages: [],
      ...{ drained: batch.drained, queued: [], run_change: null, calls: batch.calls, budget_change: null },
      ...{ opened_requests: batch.opened, closed_requests: batch.closed },
      writes: [...writes, ...this.#statusWrite(batch, standing)],
      settle: settling ? { wake_rev: this.#wakeRev, due_after: microseconds(settling.dueAfter) } : null,
    };
    const point = pointOf(batch, settling !== undefined);
    await onCrashPoint(`before commit ${point}`);
    const sentAt = momentNow();
    this.isReleased = settling !== undefined;
    const committed = await retryWhileDatabaseDown(
      () => stores.threads.commit(commit),
      () => this.givenUp.aborted,
    );
    if (committed.outcome === "lost") {
      counters.refused_commits++;
      throw new LeaseLost(`Run ${this.id} is leased by another process.`);
    }
    if (committed.outcome === "overtaken") {
      counters.overtaken_commits++;
      this.isReleased = false;
      throw new CommitConflict(`Run ${this.id} was changed from outside.`);
    }
    counters.workflow_steps += batch.carriedOut;
    this.#nextSeq++;
    this.known.committed();
    this.#lastHash = hash;
    this.#leasedSince = sentAt;
    this.#standing = standing;
    this.entries = this.entries.filter(({ seq }) => !batch.drained.includes(seq));
    await onCrashPoint(`after commit ${point}`);
    progress.changed(this.id, settling !== undefined);
    notifyOthers(this.#host, this.id, batch.writes);
    await this.#verify?.(machine, this.#nextSeq);
    if (committed.wake_rev !== this.#wakeRev && !settling) {
      this.#wakeRev = committed.wake_rev;
      await this.readInbox();
    }
  }

  /** True when lists show the run as it stands. */
  isShownAs({ status, reason }: Standing): boolean {
    return status === this.#standing.status && reason === this.#standing.reason;
  }

  /** Gives the lease back with nothing to store; `error` is kept for an operator who asks why the run does not go on. */
  async giveBack(dueAfter: number | null, error?: string): Promise<void> {
    const { stores, onCrashPoint, sealing } = this.#host.threads;
    await onCrashPoint("before give back");
    this.isReleased = true;
    const { id, epoch } = this;
    const why = error === undefined ? undefined : sealing.seal(error, id);
    await stores.engine.giveBack({ id, epoch, wake_rev: this.#wakeRev }, microseconds(dueAfter), why);
    await onCrashPoint("after give back");
  }

  /** The row that lists read is written only when it says something else than before. */
  #statusWrite(batch: RunBatch, standing: Standing): readonly Write[] {
    const { hasProblem } = batch;
    const { status, reason } = standing;
    const before = this.#standing;
    const isOver = this.state.machine.status !== "running";
    const isReopened = batch.facts.some(({ type }) => type === "run.reopened");
    if (this.isShownAs(standing) && !hasProblem && !isReopened) return [];
    return [
      {
        ...{ write: "workflow_status", run_id: this.id, status, reason },
        ...(before.status === "pending" && { started: true }),
        ...(isOver && { ended: true }),
        ...(isReopened && { reopened: true }),
        ...(hasProblem && { has_problem: true }),
      },
    ];
  }
}

/** Threads and runs for which a commit has left something may be leased by this process. */
function notifyOthers({ threads: { news, progress } }: RunHost, own: string, writes: readonly Write[]): void {
  for (const write of writes) {
    if (write.write !== "entry" && write.write !== "answer" && write.write !== "terminate") continue;
    if (write.thread_id === own) continue;
    news?.add(write.thread_id);
    progress.changed(write.thread_id);
  }
}

function microseconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.max(0, Math.ceil(milliseconds * 1_000));
}
