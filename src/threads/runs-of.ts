// What the runs of a thread come to, for whoever waits for that.
import type { Thread } from "../backend/thread-rows.ts";
import { holdfastError } from "../contracts/error.ts";
import { isWork, type ReadEntry, readEntry, staysStopped } from "./entries.ts";
import type { Host } from "./host.ts";
import { isNobodys, nobodyKnows } from "./nobodys.ts";
import type { RunOutcome } from "./outcome.ts";
import { threadStopped, threadStuck, threadTerminated } from "./thread-errors.ts";
import { until } from "./until.ts";

/** What a send came to: the outcome of the run that took the message in. */
export type SendOutcome = RunOutcome & { readonly thread_id: string; readonly run: number };

export function runsOf(host: Host, id: string, status: () => Promise<Thread>) {
  const { threads, inbox } = host.stores;

  /** What a run comes to, if it has come to something. */
  async function outcomeOf(run: number): Promise<SendOutcome | undefined> {
    const stored = await threads.run(id, run);
    if (!stored || stored.outcome === null) return undefined;
    return { thread_id: id, run, ...(JSON.parse(stored.outcome) as RunOutcome) };
  }

  /** The outcome of the run that took an entry in. */
  async function outcomeFor(entryId: string, signal?: AbortSignal): Promise<SendOutcome> {
    return await until(host.progress, id, signal, async () => {
      const thread = await status();
      // Read after the status: what was taken in before the thread was terminated or got stuck may have its outcome.
      const fate = await inbox.fate(id, entryId);
      if (fate?.drained && fate.run === null)
        throw holdfastError("message_cancelled", "The message was taken back before a run took it in.");
      const outcome = fate?.drained && fate.run !== null ? await outcomeOf(fate.run) : undefined;
      if (outcome) return outcome;
      if (thread.status === "stuck") throw threadStuck(id);
      if (fate?.drained) return undefined;
      if (thread.status === "terminated") throw threadTerminated(id, "before it took the message in");
      if (await staysAtRest(thread, (await inbox.waiting(id)).map(readEntry))) {
        // What was taken in while the inbox was read is not among what waits there.
        if ((await inbox.fate(id, entryId))?.drained) return undefined;
        throw threadStopped(id);
      }
      // Nothing is taken in before somebody answers, so that is what there is to tell.
      return (await waitsForSomebody(thread)) ? await outcomeOf(thread.run) : undefined;
    });
  }

  /** True when the run goes on only with an answer, and there is none yet. */
  async function waitsForSomebody({ status, run }: Thread): Promise<boolean> {
    if (status !== "waiting" || (await outcomeOf(run)) === undefined) return false;
    return !(await inbox.waiting(id)).some(({ kind }) => kind === "answer" || kind === "stop");
  }

  /** True when a stopped thread has nothing to take in, and no user has spoken since. */
  async function staysAtRest({ status }: Thread, waiting: readonly ReadEntry[]): Promise<boolean> {
    return status === "stopped" && waiting.every(isWork) && staysStopped(waiting, await inbox.lastStop(id));
  }

  /** The thread, once there is nothing that it would do by itself. */
  async function resting(): Promise<Thread | undefined> {
    const waiting = (await inbox.waiting(id)).map(readEntry);
    // Read after the inbox: what was taken in between shows in the status.
    const thread = await status();
    if (thread.status === "stuck") throw threadStuck(id);
    const isAtRest = {
      running: false,
      waiting: await waitsForSomebody(thread),
      stopped: await staysAtRest(thread, waiting),
      // Nothing else is taken in any more.
      terminated: waiting.every(isWork),
      idle: waiting.length === 0,
    }[thread.status];
    if (!isAtRest && isNobodys(host, thread)) throw nobodyKnows(thread);
    return isAtRest ? thread : undefined;
  }

  return { outcomeOf, outcomeFor, resting };
}
