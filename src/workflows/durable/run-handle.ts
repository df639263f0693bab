// A run as a program holds it: how it stands, what it came to, and what can be asked of it. Every wish is left in its inbox, so
// that it counts also when the process that carries the run on dies.
import type { EntryKind, NewEntry } from "../../backend/inbox.ts";
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";
import { stableHash } from "../../contracts/canonical-json.ts";
import { holdfastError } from "../../contracts/error.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import type { WorkflowRun } from "../../contracts/workflows/run-record.ts";
import { terminalStatuses } from "../../contracts/workflows/run-record.ts";
import { checkName } from "../../threads/check-arguments.ts";
import { installationSecrets } from "../../threads/secrets/installation-secrets.ts";
import { until } from "../../threads/until.ts";
import { eventBody, MOST_EVENTS } from "./events.ts";
import { followRun } from "./follow-run.ts";
import { isCarriedOn } from "./is-carried-on.ts";
import { type RerunOptions, rerun } from "./rerun.ts";
import { checkRetry, type RetryOptions } from "./retry-run.ts";
import { runEnded, runNotFound, runStuck } from "./run-errors.ts";
import { type RunEvent, readRunEvents } from "./run-events.ts";
import type { RunHost } from "./run-host.ts";
import { type RunTree, readTree } from "./run-tree.ts";
import { readRun } from "./run-view.ts";

export type SendEventOptions = {
  /** The same event under the same key is sent once. */
  readonly key?: string;
};

export interface RunHandle {
  readonly id: string;
  /** How the run stands, without what it works with. */
  summary(): Promise<StoredWorkflowRun>;
  /** How far it is, step by step. */
  tree(): Promise<RunTree>;
  /** The record of the run as the contract has it. */
  record(): Promise<WorkflowRun>;
  /** The record once the run has ended. */
  result(options?: { readonly signal?: AbortSignal }): Promise<WorkflowRun>;
  /** Asks the run to stop and returns the record once it has: what can be undone was undone. */
  cancel(options?: { readonly reason?: string; readonly signal?: AbortSignal }): Promise<WorkflowRun>;
  /** The same, and does not wait. False for a run that has ended. */
  requestCancel(reason?: string): Promise<boolean>;
  /** Nothing new begins until the run is resumed. What is under way comes to its end. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Carries a failed run on: what has succeeded is kept, all else is carried out again. */
  retry(options?: RetryOptions): Promise<void>;
  /** A new run that takes over the steps before one of this run's, with other inputs if that is wanted. */
  rerun(options: RerunOptions): Promise<RunHandle>;
  /** An event for a step that waits for it, now or later. */
  send(event: string, payload?: unknown, options?: SendEventOptions): Promise<void>;
  events(page?: { readonly after?: string; readonly limit?: number }): Promise<readonly RunEvent[]>;
  /** The events after one, and those that follow, until the run has ended. */
  follow(options?: { readonly after?: string; readonly signal?: AbortSignal }): AsyncIterableIterator<RunEvent>;
}

export function createRunHandle(host: RunHost, id: string): RunHandle {
  const { stores, progress, sealing } = host.threads;

  async function summary(): Promise<StoredWorkflowRun> {
    const stored = await stores.workflows.get(id);
    if (!stored) throw runNotFound(id);
    return stored;
  }

  async function record(): Promise<WorkflowRun> {
    const read = await readRun(host, id);
    if (!read) throw runNotFound(id);
    return read;
  }

  async function tree(): Promise<RunTree> {
    const read = await readTree(host, id);
    if (!read) throw runNotFound(id);
    return read;
  }

  async function result({ signal }: { readonly signal?: AbortSignal } = {}): Promise<WorkflowRun> {
    return await until(progress, id, signal, async () => {
      const { status } = await summary();
      if (terminalStatuses.has(status) && !(await isCarriedOn(host, id))) return await record();
      const view = await stores.engine.view(id);
      if (view?.stuck_at != null) throw runStuck(id);
      return undefined;
    });
  }

  /** False when the run takes no more. */
  async function leave(
    kind: EntryKind,
    { body = {}, key, urgent = false, payload = body }: Left = {},
  ): Promise<boolean> {
    const entryId = crypto.randomUUID();
    const entry: NewEntry = {
      ...{ id: entryId, kind, body: JSON.stringify(body), operation: kind, idempotency_key: key ?? entryId },
      ...{ payload_hash: stableHash(payload), wakes_stopped: true, urgent },
    };
    const { onCrashPoint, news } = host.threads;
    await onCrashPoint(`before ${kind} of a run`);
    const { outcome } = await stores.inbox.put(id, entry);
    await onCrashPoint(`after ${kind} of a run`);
    news?.add(id);
    progress.changed(id);
    if (outcome === "not_found") throw runNotFound(id);
    if (outcome === "conflicting") {
      throw holdfastError("idempotency_conflict", `The key "${String(key)}" was used for another event before.`);
    }
    return outcome !== "terminated";
  }

  async function leaveUnlessEnded(kind: EntryKind, left: Left = {}): Promise<void> {
    const { status } = await summary();
    if (terminalStatuses.has(status) || !(await leave(kind, left))) throw runEnded(id);
  }

  async function requestCancel(reason = ""): Promise<boolean> {
    const { status } = await summary();
    if (terminalStatuses.has(status)) return false;
    const words = installationSecrets(host.threads).clean(reason);
    const isLeft = await leave("stop", { body: { reason: words }, urgent: true });
    // One that got stuck is claimed again: to be stopped is a reason to try.
    await stores.engine.retry(id);
    return isLeft;
  }

  return {
    ...{ id, summary, tree, record, result, requestCancel },
    async cancel({ reason, signal } = {}) {
      await requestCancel(reason);
      return await result(signal ? { signal } : {});
    },
    pause: () => leaveUnlessEnded("pause"),
    resume: () => leaveUnlessEnded("resume"),
    async retry(options = {}) {
      const stored = await summary();
      const view = await stores.engine.view(id);
      if (view?.stuck_at != null && !terminalStatuses.has(stored.status)) return void (await stores.engine.retry(id));
      const { key } = await checkRetry(host, stored, options);
      if (!(await leave("retry", { key }))) throw runEnded(id);
    },
    async rerun(options) {
      return createRunHandle(host, await rerun(host, await summary(), options));
    },
    async send(event, given = {}, { key } = {}) {
      checkName("event", event);
      if (key !== undefined) checkName("key", key);
      const payload = snapshotMap(given);
      if ((await stores.workflows.waitingEvents(id)) >= MOST_EVENTS) {
        throw holdfastError("workflow_events_full", `${MOST_EVENTS} events wait for the workflow run "${id}".`);
      }
      const body = eventBody(sealing, id, event, payload);
      await leaveUnlessEnded("event", {
        body,
        payload: { event, payload: sealing.bind(payload, `event:${id}`) },
        ...(key !== undefined && { key }),
      });
    },
    events: (page) => readRunEvents(host, id, page),
    follow: (options) => followRun(host, id, options),
  };
}

type Left = {
  readonly body?: JsonMap;
  /** What a repeat under the same key must be equal to; the body unless given. */
  readonly payload?: JsonMap;
  readonly key?: string;
  readonly urgent?: boolean;
};
