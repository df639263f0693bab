// The memories of a database: what every memory store can do, and what only one that keeps them for good has to.
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";
import type { MemoryStore } from "../contracts/memory/memory-store.ts";
import type { Workspace } from "../contracts/workspace.ts";

/** What a validator found out about a memory. */
export type Validation = {
  readonly status: string;
  readonly message: string | null;
  /** Unix seconds. */
  readonly validated_at: number;
};

export type Revalidation = {
  readonly status: string;
  /** How far it may be trusted from now on; left as it is unless given. */
  readonly confidence?: number | null;
  readonly message?: string | null;
  /** Unix seconds. */
  readonly at: number;
};

export interface KeptMemories extends MemoryStore {
  /** False when the content is no longer the one that was validated, or gone: then nothing is changed. */
  revalidated(scope: MemoryScope, hash: string, validation: Revalidation): Promise<boolean>;
  /** The last validation of what is there now; whoever writes it anew begins without one. */
  validation(scope: MemoryScope): Promise<Validation | undefined>;
  /**
   * Forgets all that belongs to a person, to an agent or to a workspace, in every layer, or to those of them that are named
   * together; says how much that was. Throws `invalid_argument` when none is named.
   */
  forgetAll(of: Forgotten): Promise<number>;
}

/** Whose memories are to be forgotten. */
export type Forgotten = {
  readonly user_id?: number;
  readonly agent_id?: number;
  readonly workspace?: Workspace;
};
