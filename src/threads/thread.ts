// A thread as its users hold it: a handle without state of its own. Everything it does is a write to the inbox or a read.

import type { StoredCall, Thread } from "../backend/thread-rows.ts";
import type { CallsPage } from "../backend/thread-store.ts";
import type { JsonMap } from "../contracts/json.ts";
import { isName } from "../contracts/storable-name.ts";
import { checkNumber, checkThreadKey } from "./check-arguments.ts";
import { changeConsent } from "./consent/change-consent.ts";
import { type Effects, effectsOf } from "./effects/effects-of.ts";
import { type ExportPart, exportThread, type ThreadExport } from "./export.ts";
import { forkThread } from "./fork.ts";
import type { Host } from "./host.ts";
import { leaveFor } from "./leave-entries.ts";
import { type LeftEntries, leftEntries } from "./left-entries.ts";
import { costOf, type ThreadCost } from "./logs/cost.ts";
import type { LogRow } from "./logs/log-row.ts";
import { type LogQuery, readLogs } from "./logs/logs.ts";
import { contextOf, type StepContext } from "./memory/context-view.ts";
import { type Keyed, type MessageChanges, messageChanges } from "./message-changes.ts";
import { createEntry } from "./new-entry.ts";
import { isNobodys } from "./nobodys.ts";
import { readCalls } from "./read-calls.ts";
import { type MessagesPage, readMessages, type ThreadMessage } from "./read-messages.ts";
import { type RunsPage, readRun, readRuns, type ThreadRunSummary } from "./read-runs.ts";
import { runsOf, type SendOutcome } from "./runs-of.ts";
import { withFiles } from "./sent-files.ts";
import { type Session, sessionOf } from "./session-view.ts";
import { directBuffer } from "./state/direct-buffer.ts";
import { type ChildrenPage, readChildren } from "./state/hierarchy-state.ts";
import type { AttachmentInput, ChildEntry, ThreadState } from "./state/thread-state.ts";
import { stateAtRest } from "./state-at-rest.ts";
import { readStream, type StreamOptions } from "./stream/read-stream.ts";
import { type Standing, standing } from "./stream/rest.ts";
import { sentStream } from "./stream/sent-stream.ts";
import type { StreamEvent } from "./stream/stream.ts";
import type { Consent } from "./subject.ts";
import { threadNotFound, threadStuck } from "./thread-errors.ts";
import type { MessageInput } from "./tool.ts";
import { until } from "./until.ts";

export type { SendOutcome, ThreadMessage, ThreadRunSummary };

/** A message on its way: what the run that takes it in comes to, and that run as it happens. */
export type Sending = Promise<SendOutcome> & {
  /**
   * The events of the run, from the one that adds the message to the one with which the run ends or waits for somebody.
   * It throws what the send throws. Reading it starts nothing, and whoever reads late misses nothing.
   */
  stream(options?: Waiting): AsyncIterable<StreamEvent>;
};

type WithFiles = {
  /** Files of the thread by their paths, and new ones as `{ name, mimeType, data }` with base64. */
  readonly attachments?: readonly AttachmentInput[];
};

type Silent = {
  /** Models are shown the message, and lists of messages leave it out unless they are asked for it. */
  readonly silent?: boolean;
};

type Waiting = { readonly signal?: AbortSignal };

export interface ThreadHandle extends MessageChanges {
  readonly id: string;
  readonly key: string;
  /** Leaves a message and waits for what the run that takes it in comes to: that it ends, or waits for somebody. */
  send(content: string | MessageInput, options?: Keyed & Silent & WithFiles & Waiting): Sending;
  /** Leaves a message as `send` does, and returns when it is stored. */
  post(content: string | MessageInput, options?: Keyed & Silent & WithFiles): Promise<{ id: string }>;
  /** Leaves a message and returns when it is stored. A stopped thread does not run for it. */
  queueMessage(content: string | MessageInput, options?: Keyed & Silent & WithFiles): Promise<{ id: string }>;
  /** Has a tool run before the model is asked again; call and result become part of the thread. */
  queueTool(name: string, parameters?: JsonMap, options?: Keyed): Promise<{ id: string }>;
  /** What happened and what happens, from the beginning, from that of a run or after an event. */
  stream(options?: StreamOptions): AsyncIterable<StreamEvent>;
  /** How it stands, and whether it rests: nothing happens to it then before somebody says, answers or changes something. */
  standing(): Promise<Standing>;
  /** The outcome of the current or last run, once it has ended or waits for somebody; undefined when there was none. */
  wait(options?: Waiting): Promise<SendOutcome | undefined>;
  /** Stops what the thread is doing, and returns when it has stopped. What is queued is kept, and not run. */
  stop(options?: Keyed & Waiting & { readonly reason?: string }): Promise<Thread>;
  /** Lets a stopped thread go on with what is queued, or asks the model once more. */
  continue(options?: Keyed & Waiting): Promise<SendOutcome>;
  /** Lets it go on as `continue` does, and returns when that is stored. */
  wake(options?: Keyed): Promise<{ id: string }>;
  /** Stops the thread for good. It can still be read; a second time changes nothing. */
  terminate(options?: Waiting): Promise<Thread>;
  /** A new thread with this one's history up to a settled step: the last one, or the last one not after that event. */
  fork(key: string, options?: { readonly at?: number }): Promise<ThreadHandle>;
  /** Takes back a message or tool that is still queued; false when it was taken in already. */
  cancelQueued(id: string): Promise<boolean>;
  status(): Promise<Thread>;
  /**
   * The messages as they were added, oldest first unless the newest are wanted first; superseded ones in their current
   * version. All of them, or so many after the one of that number.
   */
  messages(page?: MessagesPage): Promise<readonly ThreadMessage[]>;
  /** The thread as the Agents API knows it: a session with its transcript. */
  session(): Promise<Session>;
  /** Its runs, oldest first: all of them, or so many after the one of that number. */
  runs(page?: RunsPage): Promise<readonly ThreadRunSummary[]>;
  run(number: number): Promise<ThreadRunSummary | undefined>;
  /** Oldest first. Throws `invalid_argument`. */
  calls(page?: CallsPage): Promise<readonly StoredCall[]>;
  /** Everything that is stored of the thread, secrets excepted. */
  export(part?: ExportPart): Promise<ThreadExport>;
  /** The thread as tools see it, for the program itself: what is written through it is stored at once. */
  state(): Promise<ThreadState>;
  /** What the thread has scheduled: to be listed, run now, or cancelled. */
  readonly effects: Effects;
  /** One row for every attempt at a model and every tool that ran, newest first. */
  logs(query?: LogQuery): Promise<readonly LogRow[]>;
  /** What its models have cost, and those of all that descend from it. */
  cost(): Promise<ThreadCost>;
  /** What the person behind it has agreed to, after the operations that are given were changed. */
  consent(changes?: Consent): Promise<Consent>;
  /** What was retrieved for a step, the last one unless given, and why; null when nothing was. */
  context(options?: { readonly step?: number }): Promise<StepContext | null>;
  /** What was left for it, by key, and what became of it. */
  readonly left: LeftEntries;
  /** Its children, as its registry shows them, oldest first: all of them, or so many after the one of that id. */
  children(page?: ChildrenPage): Promise<readonly ChildEntry[]>;
}

/** Where to come back to. */
export function createHandle(host: Host, { id, key, agent }: Pick<Thread, "id" | "key" | "agent">): ThreadHandle {
  const { threads, inbox } = host.stores;
  const entries = leaveFor(host, { id, agent });
  const { status, put, leave } = entries;
  const { outcomeOf, outcomeFor, resting } = runsOf(host, id, status);

  return {
    id,
    key,
    status,
    send(content, options = {}) {
      const entry = leave(() => post(content, options));
      const outcome = entry.then(({ id: entryId }) => outcomeFor(entryId, options.signal));
      const stream = ({ signal }: Waiting = {}) => {
        // Whoever reads is told there what went wrong, and need not look here.
        outcome.catch(() => undefined);
        return sentStream(host, { threadId: id, entry, outcome, signal });
      };
      return Object.assign(outcome, { stream });
    },
    post,
    async queueMessage(content, { attachments = [], ...options } = {}) {
      return await put(createEntry.queuedMessage(await withFiles(host, id, content, attachments), options));
    },
    async queueTool(name, parameters = {}, options = {}) {
      const { sealing } = host;
      return await put(createEntry.queuedTool(name, parameters, { key: options.key, sealing, threadId: id }));
    },
    stream: (options = {}) => readStream(host, id, options),
    standing: () => standing(host, id),
    async wait({ signal } = {}) {
      const found = await until(host.progress, id, signal, async () => {
        const thread = await resting();
        if (!thread) return undefined;
        if (thread.run === 0) return { outcome: undefined };
        // An answer that came in between has the run go on, and there is nothing to tell yet.
        const outcome = await outcomeOf(thread.run);
        return outcome && { outcome };
      });
      return found.outcome;
    },
    async stop({ key: idempotencyKey, reason = "Stopped.", signal } = {}) {
      const { id: entryId } = await leave(() => put(createEntry.stop(reason, { key: idempotencyKey })));
      return await until(host.progress, id, signal, async () => {
        const thread = await status();
        // A user who spoke right afterwards may have the thread run again: the stop does not wait for that.
        if ((await inbox.fate(id, entryId))?.drained) return await status();
        if (thread.status === "stuck") throw threadStuck(id);
        return undefined;
      });
    },
    async continue(options = {}) {
      const { id: entryId } = await leave(() => put(createEntry.continue({ key: options.key })));
      return await outcomeFor(entryId, options.signal);
    },
    wake: ({ key: idempotencyKey } = {}) => put(createEntry.continue({ key: idempotencyKey })),
    async terminate({ signal } = {}) {
      await host.onCrashPoint("before terminate");
      const terminated = await threads.terminate(id, createEntry.stop("Terminated."));
      if (!terminated) throw threadNotFound(id);
      await host.onCrashPoint("after terminate");
      // It is over; whoever knows its agent one day settles what it was at.
      const thread = isNobodys(host, { agent }) ? await status() : undefined;
      if (thread && isNobodys(host, thread)) return thread;
      return await until(host.progress, id, signal, resting);
    },
    async fork(forkKey, { at } = {}) {
      checkThreadKey(forkKey);
      if (at !== undefined) checkNumber("at", at);
      return createHandle(host, await forkThread(host, id, forkKey, at ?? null));
    },
    ...messageChanges(host, id, entries),
    async cancelQueued(entryId) {
      if (!isName(entryId)) return false;
      await host.onCrashPoint("before cancel");
      const isCancelled = await inbox.cancel(id, entryId);
      await host.onCrashPoint("after cancel");
      // Whoever sent it waits for a run that will not come.
      if (isCancelled) host.progress.changed(id);
      return isCancelled;
    },
    messages: (page) => readMessages(host, id, page),
    async session() {
      return sessionOf(
        await status(),
        await host.stores.subjects.get(id),
        (await readMessages(host, id)).map(({ message: envelope }) => envelope),
      );
    },
    runs: (page) => readRuns(host, id, page),
    run: (number) => readRun(host, id, number),
    calls: (page) => readCalls(host, id, page),
    export: (part) => exportThread(host, id, part),
    async state() {
      return await stateAtRest(host, await status(), { buffer: directBuffer(host, id) });
    },
    effects: effectsOf(host, id),
    logs: (query = {}) => readLogs(host, id, query),
    cost: () => costOf(host, id),
    context: (options = {}) => contextOf(host, id, options),
    consent: (changes) => changeConsent(host, id, changes),
    left: leftEntries(host, id),
    async children(page = {}) {
      return await readChildren(host, (await status()).id, page);
    },
  };

  async function post(...[content, options = {}]: Parameters<ThreadHandle["post"]>): Promise<{ id: string }> {
    const { key: idempotencyKey, silent, attachments = [] } = options;
    const sent = await withFiles(host, id, content, attachments);
    return await put(createEntry.message(sent, { key: idempotencyKey, silent }));
  }
}
