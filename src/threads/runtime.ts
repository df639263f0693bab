// The runtime as everything on top of it holds it: threads and what they wait for, who may do what, what is remembered,
// and the proof of it.
import type { Audit } from "../audit/audit.ts";
import type { Unnamed } from "../backend/file-store.ts";
import type { StoredCall, Thread } from "../backend/thread-rows.ts";
import type { ThreadQuery } from "../backend/thread-store.ts";
import type { Bridge } from "../contracts/channels/bridge.ts";
import type { UnknownMap } from "../contracts/json.ts";
import type { Memories } from "../memory/checked-memories.ts";
import type { Guidelines } from "../memory/guidelines.ts";
import type { StoredApprovalMemory } from "../trust/approval-memory.ts";
import type { Authority } from "../trust/authority.ts";
import type { Grants } from "../trust/grants.ts";
import type { PendingActions } from "../trust/pending-actions.ts";
import type { Tokens } from "../trust/tokens.ts";
import type { Agent } from "./agent.ts";
import type { Sessions } from "./consent/sessions.ts";
import type { Diagnosis, Findings } from "./diagnose.ts";
import type { EndpointCall } from "./endpoints.ts";
import type { FirstOutcomes } from "./first-outcomes.ts";
import type { Budgets } from "./funds/budgets.ts";
import type { Pruned, PrunePage } from "./housekeeping.ts";
import type { Metrics } from "./metrics.ts";
import type { OpenOptions } from "./open-thread.ts";
import type { Requests } from "./requests/requests.ts";
import type { Variables } from "./subagents/variables.ts";
import type { Subject } from "./subject.ts";
import type { Switches } from "./switches.ts";
import type { ThreadHandle } from "./thread.ts";
import type { ThreadView } from "./thread-view.ts";

export interface Runtime {
  readonly threads: {
    /**
     * The thread of that key: the same one every time. Throws `thread_key_taken` when it belongs to another agent, or
     * draws on another budget.
     */
    open(key: string, options: OpenOptions): Promise<ThreadHandle>;
    /** The thread of that key, if it was opened: looking for it opens none. */
    find(key: string): Promise<ThreadHandle | undefined>;
    /** The thread of that id; throws `thread_not_found`. */
    get(id: string): Promise<ThreadHandle>;
    list(query?: ThreadQuery): Promise<readonly Thread[]>;
    /** Erases a thread and all that descend from it, for good; answers with their ids. Throws `thread_not_found`. */
    delete(id: string): Promise<readonly string[]>;
    /**
     * Deletes the threads that nobody has used for so long and that wait for nothing; answers with their ids. `dryRun`:
     * with those that would be, without their children.
     */
    prune(options: { readonly idleMs: number; readonly dryRun?: boolean }): Promise<readonly string[]>;
    /** The same for some of them at a time: many take long. */
    prunePage(page: PrunePage): Promise<Pruned>;
    /** Removes the bytes that no file of any thread names any more, and counts them; `dryRun` only counts. */
    pruneFiles(options?: { readonly dryRun?: boolean }): Promise<Unnamed>;
    /** The thread of that id as it is at this moment, with whom it acts for; throws `thread_not_found`. */
    view(id: string): Promise<ThreadView>;
    /** Whom a thread acts for; throws `thread_not_found`. */
    subject(id: string): Promise<Subject>;
    /** Whom a run of a workflow acts for; undefined for what is no run. */
    subjectOfRun(id: string): Promise<Subject | undefined>;
    /** Lets a thread that got stuck try again. Throws `thread_not_stuck` when it is not. */
    retry(id: string): Promise<void>;
    /** Why a thread does not go on, in a sentence, and what to type about it. Throws `thread_not_found`. */
    diagnose(id: string): Promise<Diagnosis>;
  };
  readonly requests: Requests;
  /** What waits to be decided by a person, and what was decided: of threads, and of whoever else proposes something. */
  readonly approvals: PendingActions & { readonly remembered: StoredApprovalMemory };
  /** The agents that there are, by their slugs. */
  readonly agents: ReadonlyMap<string, Agent>;
  /** What a principal may do. */
  readonly authority: Authority;
  /** Bearer tokens of agents. */
  readonly tokens: Tokens;
  /** Who was given which agent, in which role. */
  readonly grants: Grants;
  /** Transcripts that are kept beyond their threads, with consent. */
  readonly sessions: Sessions;
  /** Signed checkpoints over everything, and exports that a stranger can verify. */
  readonly audit: Audit;
  /** What children that could not be created yet still need: to be read, and submitted once. */
  readonly variables: Variables;
  /** Answers a request to an endpoint of a thread. */
  readonly endpoints: { call(given: EndpointCall): Promise<Response> };
  /** What is remembered beyond threads: to be read, written and erased by the program itself. */
  readonly memories: Memories;
  /** Guidance that people write for agents: their own private memory, and what a workspace shares. Null where a host brings its own. */
  readonly guidelines: Guidelines | null;
  /** What several threads may spend on models together. */
  readonly budgets: Budgets;
  /** What programs elsewhere bring for agents, and fetch from them. */
  readonly bridge: Bridge;
  readonly calls: {
    /** Calls of which nobody could tell what they did. */
    unknown(options?: { readonly limit?: number }): Promise<readonly StoredCall[]>;
    /** Says what a call of unknown outcome did. It takes the place of what the model was told, in every later run. */
    settle(
      call: Pick<StoredCall, "thread_id" | "run" | "number">,
      result: unknown,
      /** Who says so: kept in the log, for good. */
      options?: { readonly principal?: UnknownMap },
    ): Promise<void>;
  };
  /** Tools and agents that are switched off, in every process. */
  readonly switches: Switches;
  /** How everything stands, in numbers: what is stored, and what this process has counted since it began. */
  metrics(): Promise<Metrics>;
  /** What somebody should look at, with what to type about it. */
  diagnose(): Promise<Findings>;
  /** The first outcomes of writes, for doors: a write that is repeated with its key is done once. */
  readonly outcomes: FirstOutcomes;
  /** Lets what is under way come to a commit, gives the rest back and closes the database. */
  close(): Promise<void>;
}
