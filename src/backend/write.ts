// What a commit writes beside a thread's own messages and records: what its tools, effects and children leave behind. All
// of it is written in one transaction with the records that speak of it, or on its own where no run is under way.
import type { NewEntry } from "./inbox.ts";
import type { NewThread } from "./new-thread.ts";
import type { NewRequest } from "./request-store.ts";

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
  /** Ends a thread and all that descend from it, for good. The first time counts. */
  | { readonly write: "terminate"; readonly thread_id: string; readonly stop: NewEntry };

export interface WriteStore {
  /**
   * Writes all of it or nothing, where no commit is at hand. `thread_id` has to be there and must not be terminated,
   * unless only `terminate` is among the writes. `only`: a request that has to be pending, and is settled with it.
   */
  apply(
    threadId: string,
    writes: readonly Write[],
    only?: { readonly request_id: string },
  ): Promise<"written" | "terminated" | "not_found" | "overtaken">;
}
