// What a commit writes beside a thread's own messages and records: what its tools, effects and children leave behind. All
// of it is written in one transaction with the records that speak of it, or on its own where no run is under way.
import type { MemoryMetadata } from "../contracts/memory/memory-metadata.ts";
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";
import type { NewEntry } from "./inbox.ts";
import type { NewThread } from "./new-thread.ts";
import type { NewRequest } from "./request-store.ts";
import type { NewWorkflowRun, StepStatus, WorkflowReason, WorkflowStatus } from "./workflow-store.ts";

export type VariableType = "text" | "secret";

/** What is stored under a path of a thread. */
export type FileRecord = {
  readonly path: string;
  readonly name: string;
  readonly mime_type: string;
  readonly size: number;
  readonly is_directory: boolean;
  /** SHA-256 of the content, in hex; empty for a directory. */
  readonly hash: string;
  readonly width: number | null;
  readonly height: number | null;
  /** JSON of what else is known of it. */
  readonly metadata: string | null;
  readonly created_at: number;
};

/** `content` is absent where the bytes of this hash are known to be stored: a copy copies a name. */
export type NewFile = Omit<FileRecord, "created_at"> & { readonly content?: Uint8Array };

export type EffectStatus = "pending" | "processing" | "completed" | "failed" | "agent_canceled" | "user_canceled";

export type NewEffect = {
  readonly id: string;
  readonly name: string;
  /** JSON, sealed: arguments may hold secrets. */
  readonly args: string;
  /** Microseconds from now. */
  readonly after: number;
  readonly manual_run: boolean;
  readonly replayed_from: string | null;
};

/** A session as the run of a thread leaves it. JSON is text. */
export type TranscriptSession = {
  readonly workspace_type: string;
  readonly workspace_id: string;
  readonly owner_type: string;
  readonly owner_key: string;
  /** The audience that its owner is a visitor of; null for who is none. */
  readonly audience_id: string | null;
  /** The user for a session of a user, else 0. */
  readonly user_id: number;
  readonly agent_slug: string;
  /** Only for a session that has none yet: its owner may have given it another one. */
  readonly title: string;
  /** JSON, all of it; what the session has stays when absent. */
  readonly metadata?: string;
  /** Kept when empty, as is the model. */
  readonly provider: string;
  readonly model: string;
  /** Null: the provider remembers nothing of this transcript. Kept when absent. */
  readonly provider_response_id?: string | null;
  readonly context: string;
  /** JSON of the decision that allows to keep it. */
  readonly consent: string;
  readonly token_id: number | null;
  /** Microseconds after which nobody sees it any more, from now; null for never. */
  readonly expires_after: number | null;
};

export type Write =
  /** A durable value of a thread; null deletes it. JSON. */
  | { readonly write: "value"; readonly thread_id: string; readonly key: string; readonly value: string | null }
  | { readonly write: "user_value"; readonly user_id: string; readonly key: string; readonly value: string | null }
  /** `inherited`: it came from the parent, and follows it. Null deletes it. */
  | {
      readonly write: "variable";
      readonly thread_id: string;
      readonly name: string;
      readonly sealed: string | null;
      readonly type: VariableType;
      readonly inherited: boolean;
    }
  | { readonly write: "file"; readonly thread_id: string; readonly file: NewFile }
  | { readonly write: "file_gone"; readonly thread_id: string; readonly path: string }
  /** Refused when the thread is terminated. The thread is due when the effect is. */
  | { readonly write: "effect"; readonly thread_id: string; readonly effect: NewEffect }
  /** Changes nothing unless the effect is in one of the states `from`. */
  | {
      readonly write: "effect_change";
      readonly thread_id: string;
      readonly id: string;
      readonly from: readonly EffectStatus[];
      readonly to: EffectStatus;
      readonly error?: string;
    }
  /** A child thread, with the registry entry that its parent finds it by. */
  | { readonly write: "thread"; readonly thread: NewThread }
  /** An entry for another thread, which is woken. Nothing happens when that is terminated. */
  | {
      readonly write: "entry";
      readonly thread_id: string;
      readonly entry: NewEntry;
      /** How the registry of its parent shows the thread from now on. */
      readonly child_status?: string;
      /** What its parent waits on from now on, until it is done. */
      readonly child_request?: string;
    }
  /** Answers what another thread waits for. `otherwise`: what is left for it when it waits no longer. */
  | {
      readonly write: "answer";
      readonly thread_id: string;
      readonly request_id: string;
      /** JSON. */
      readonly body: string;
      readonly payload_hash: string;
      readonly otherwise?: NewEntry;
    }
  /** A request that no call waits for: the variables of a child that could not be created yet. */
  | { readonly write: "request"; readonly thread_id: string; readonly run: number; readonly request: NewRequest }
  /** How the parent's registry shows this thread. */
  | { readonly write: "child_status"; readonly thread_id: string; readonly status: string }
  /** The thread's agent is another one from now on. */
  | { readonly write: "agent"; readonly thread_id: string; readonly agent: string }
  /**
   * Keeps what the thread says in its messages `run_from` up to, but not including, `run_to` beyond the thread, in a session
   * that is made if there is none; and changes or removes there what was changed or removed from `run_from` on. Nothing
   * happens to a session that belongs to another thread or to somebody else.
   */
  | {
      readonly write: "transcript";
      readonly session_id: string;
      readonly thread_id: string;
      readonly run_from: number;
      readonly run_to: number;
      readonly session: TranscriptSession;
      /** The consent of the thread from which it was decided: nothing is kept when that is another one by now. */
      readonly if_consent: string | null;
    }
  /** Follows in whatever sessions keep them what was changed or removed of a thread's messages, from `from` on. */
  | { readonly write: "transcript_changed"; readonly thread_id: string; readonly from: number }
  /** Removes messages of a thread from whatever sessions keep them. */
  | { readonly write: "transcript_erased"; readonly thread_id: string; readonly seqs: readonly number[] }
  /**
   * What an agent remembers, with the defaults of its metadata; `consent` is JSON of the decision that allowed it. What
   * somebody else wrote under that name stays as it is, and nothing happens either unless the thread still has the consent
   * of `if_consent`: JSON as it is stored, null for a thread without a subject.
   */
  | {
      readonly write: "memory";
      readonly scope: MemoryScope;
      readonly content: string;
      readonly metadata: MemoryMetadata | null;
      readonly consent: string | null;
      readonly if_consent?: { readonly thread_id: string; readonly consent: string | null };
    }
  /** An agent forgets what an agent wrote, or what the user has said. */
  | { readonly write: "memory_gone"; readonly scope: MemoryScope }
  /** A run of a workflow, behind its row of the kind `workflow`. Nothing happens when there is one already. */
  | { readonly write: "workflow_run"; readonly run: NewWorkflowRun }
  /** How a run of a workflow stands. One that has ended is changed only when it is reopened. */
  | {
      readonly write: "workflow_status";
      readonly run_id: string;
      readonly status: WorkflowStatus;
      readonly reason: WorkflowReason | null;
      /** It begins now; the first time counts. */
      readonly started?: true;
      readonly ended?: true;
      readonly has_problem?: true;
      /** It goes on although it had ended: the end is cleared, and so is its problem. */
      readonly reopened?: true;
    }
  /** What is known of a step. What is absent stays as it is; null clears it. */
  | {
      readonly write: "workflow_step";
      readonly run_id: string;
      readonly parent: string;
      readonly position: number;
      /** Sealed. */
      readonly opened?: string;
      /** Sealed. */
      readonly outcome?: string | null;
      readonly status: StepStatus | null;
      readonly undo_order?: number | null;
    }
  | {
      readonly write: "workflow_step_gone";
      readonly run_id: string;
      readonly parent: string;
      readonly position: number;
    }
  /** Ends a thread and all that descend from it, for good. The first time counts. */
  | { readonly write: "terminate"; readonly thread_id: string; readonly stop: NewEntry };

export type Only = {
  readonly request_id: string;
  readonly room?: { readonly relationship: string; readonly most: number };
};

export type WriteOutcome = "written" | "terminated" | "not_found" | "overtaken" | "full";

export interface WriteStore {
  /**
   * Writes all of it or nothing, where no commit is at hand. `thread_id` has to be there and must not be terminated,
   * unless only `terminate` is among the writes. `only`: a request that has to be pending, and is settled with it; `room`:
   * and there have to be fewer live children of that relationship than may be, or it is `full`.
   */
  apply(threadId: string, writes: readonly Write[], only?: Only): Promise<WriteOutcome>;
}
