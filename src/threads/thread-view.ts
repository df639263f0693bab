// A thread as it was at one moment, read in one go: what there is to know of it before anything is done with it.
import type { Thread, ThreadGlance } from "../backend/thread-rows.ts";
import { isName } from "../contracts/storable-name.ts";
import type { Agent } from "./agent.ts";
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
  /** The thread that its user talks with: the topmost of those above it, or the thread itself. */
  topmost(): Promise<Thread>;
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
  const { origin_agent, agent, id } = seen.thread;
  const known = host.agents.get(origin_agent) ?? host.agents.get(agent);
  if (!known) throw threadNotFound(id);
  return new SeenThread(host, known, seen);
}

/** A class, because accessors of an object made on the spot cost more than all else that is done to look at a thread. */
class SeenThread implements ThreadView {
  readonly thread: Thread;
  readonly owner: Subject["owner"];
  readonly #host: Host;
  readonly #agent: Agent;
  readonly #seen: ThreadGlance;
  #subject: Subject | undefined;

  constructor(host: Host, agent: Agent, seen: ThreadGlance) {
    this.thread = seen.thread;
    this.owner = ownerIn(seen.subject);
    this.#host = host;
    this.#agent = agent;
    this.#seen = seen;
  }

  get subject(): Subject {
    this.#subject ??= subjectOf(this.#agent, this.#seen.subject);
    return this.#subject;
  }

  async topmost(): Promise<Thread> {
    if (this.thread.parent_id === null) return this.thread;
    const above = await this.#host.stores.threads.ancestors(this.thread.id);
    return above.findLast(({ kind }) => kind === "thread") ?? this.thread;
  }

  standing(): Promise<Standing> {
    return standingOf(this.#host, this.#seen);
  }

  get handle(): ThreadHandle {
    return createHandle(this.#host, this.thread);
  }
}
