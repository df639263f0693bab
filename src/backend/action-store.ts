// Pending actions that no thread waits for: what packages, hosts and conversations in memory propose. An action leaves
// pending once. Whoever decides it claims it first, so that of any number of decisions one is applied.
import type { ListPlace } from "../contracts/list-place.ts";
import type { PendingActionStatus } from "../contracts/trust/pending-action.ts";

/** A time as it was written, and the moment it names in microseconds; null where it names none. */
export type WrittenTime = { readonly text: string; readonly us: number | null };

export type NewAction = {
  readonly action_id: string;
  readonly kind: string;
  readonly status: PendingActionStatus;
  readonly workspace_type: string | null;
  readonly workspace_id: string | null;
  readonly agent: string | null;
  readonly creator: string | null;
  readonly resolver: string | null;
  readonly created_at: WrittenTime;
  readonly expires_at: WrittenTime | null;
  readonly resolved_at: WrittenTime | null;
  /** JSON without secrets, for everybody who may see the action. */
  readonly shown: string;
  /** What applying it takes, sealed; null once it has ended. */
  readonly sealed: string | null;
  /** What became of it, sealed. */
  readonly outcome: string | null;
};

/** A decision that is being applied, or was when its process died: then nobody knows how far it came. */
export type ActionClaim = {
  readonly claim_id: string;
  readonly decision: "accepted" | "rejected";
  readonly claimed_by: string;
  readonly claimed_at: string;
};

export type StoredAction = Omit<NewAction, "created_at" | "expires_at" | "resolved_at"> & {
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly resolved_at: string | null;
  /** When it was first stored, in microseconds on the database's clock: it stays when the action is stored anew. */
  readonly stored_at: number;
  /** Another one each time the action is stored anew. */
  readonly revision: number;
  readonly claim: ActionClaim | null;
};

/** How an action ends. What applying it took is erased with that. */
export type ActionEnd = {
  readonly status: Exclude<PendingActionStatus, "pending">;
  readonly resolver: string | null;
  readonly resolved_at: WrittenTime;
  readonly outcome: string | null;
};

/** What each field that is given has to be; both ends of a range in microseconds are included. */
export type ActionQuery = {
  readonly status?: string;
  readonly kind?: string;
  readonly workspace_type?: string;
  readonly workspace_id?: string;
  readonly agent?: string;
  readonly creator?: string;
  readonly resolver?: string;
  readonly created_from?: number;
  readonly created_to?: number;
  readonly resolved_from?: number;
  readonly resolved_to?: number;
};

export type ActionCount = { readonly status: PendingActionStatus; readonly kind: string; readonly count: number };

export interface ActionStore {
  /** In place of a pending one that nobody has claimed; false when another stands under the id. */
  put(action: NewAction): Promise<boolean>;
  get(actionId: string): Promise<StoredAction | undefined>;
  /** In the order they were first stored, by id those of one time; so many behind a place. */
  list(
    query: ActionQuery,
    page?: { readonly limit?: number; readonly offset?: number; readonly after?: ListPlace },
  ): Promise<readonly StoredAction[]>;
  /** How many there are of each status and kind. */
  count(query: ActionQuery): Promise<readonly ActionCount[]>;
  /**
   * Takes a pending action for a decision: false when somebody has, when it has ended, when it is another revision or
   * when it expires at `at_us` or earlier.
   */
  claim(actionId: string, revision: number, claim: ActionClaim, at_us: number): Promise<boolean>;
  /** Gives a claim back, as if nobody had decided; false when it does not hold. */
  release(actionId: string, claimId: string): Promise<boolean>;
  /** Ends a pending action that is claimed so, or with null by nobody; false when there is none. */
  end(actionId: string, claimId: string | null, end: ActionEnd): Promise<boolean>;
  /** Ends those pending that nobody has claimed and that expire at this moment or earlier, and gives them. */
  expire(before: WrittenTime): Promise<readonly StoredAction[]>;
}
