// A thread that does not exist yet, and what makes it another one's child.
import type { StoredSubject } from "./subject-store.ts";

/** What a row is. Whoever asks for threads is shown those of the kind `thread` alone. */
export type ThreadKind = "thread" | "workflow";

/** What the registry of a parent knows of a child; stored with the child. */
export type ChildLink = {
  /** The agent that it was created as. */
  readonly agent: string;
  readonly relationship: string;
  /** The side of the parent that it belongs to. */
  readonly side: "a" | "b";
  readonly title: string;
  readonly description: string;
  readonly blocking: boolean;
  readonly resumable: boolean;
  readonly receives_messages: "side_a" | "side_b";
  readonly parent_communication: "implicit" | "explicit";
  readonly thread_name: string;
  readonly spawn_group: string | null;
  /** What the parent waits on until this child is done. */
  readonly request_id: string | null;
};

export type NewThread = {
  readonly id: string;
  /** `thread` unless given. */
  readonly kind?: ThreadKind;
  /** No other row has it, of whatever kind. */
  readonly key: string;
  /** Empty for what is no thread. */
  readonly agent: string;
  readonly budget: string | null;
  readonly state_version: number;
  readonly hash: string;
  readonly parent_id: string | null;
  readonly user_id: string | null;
  readonly tags: readonly string[];
  readonly child: ChildLink | null;
  /** How the registry of the parent shows it. */
  readonly child_status: string | null;
  /** What it is created with: JSON, sealed. */
  readonly arguments: string | null;
  /** Whom it acts for. A child without one acts for whom its parent does. */
  readonly subject?: StoredSubject | null;
};
