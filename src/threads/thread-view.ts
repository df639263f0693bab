// A thread as it was at one moment, read in one go: what there is to know of it before anything is done with it.
import type { Thread, ThreadGlance } from "../backend/thread-store.ts";
import { isName } from "../contracts/storable-name.ts";
import type { Host } from "./host.ts";
import { type Standing, standingOf } from "./stream/rest.ts";
import { ownerIn, type Subject, subjectOf } from "./subject.ts";
import { createHandle, type ThreadHandle } from "./thread.ts";
import { threadNotFound } from "./thread-errors.ts";

export interface ThreadView {
  readonly thread: Thread;
  /** Whose conversation it is, which is all that most want to know of whom it acts for. */
  readonly owner: Subject["owner"];
  /** Whom it acts for; read when it is asked for. */
  readonly subject: Subject;
  /** How it stood then. */
  standing(): Promise<Standing>;
  /** To do something with it. */
  readonly handle: ThreadHandle;
}

/** Throws `thread_not_found`, also for one whose agent is not there any more. */
export async function viewThread(host: Host, id: string): Promise<ThreadView> {
  const seen = isName(id) ? await host.stores.threads.glance(id) : undefined;
  if (!seen) throw threadNotFound(id);
  return viewOf(host, seen);
}

function viewOf(host: Host, seen: ThreadGlance): ThreadView {
  const { thread } = seen;
  const agent = host.agents.get(thread.origin_agent) ?? host.agents.get(thread.agent);
  if (!agent) throw threadNotFound(thread.id);
  let subject: Subject | undefined;
  return {
    thread,
    owner: ownerIn(seen.subject),
    get subject() {
      subject ??= subjectOf(agent, seen.subject);
      return subject;
    },
    standing: () => standingOf(host, seen),
    get handle() {
      return createHandle(host, thread);
    },
  };
}
