// The first outcomes of writes: whoever repeats a write with its key is told what the first one came to.

/** Which write: who makes it, what is asked for, and the key that they gave it. */
export type OutcomeKey = {
  readonly caller: string;
  readonly operation: string;
  readonly idempotency_key: string;
};

export type NewOutcome = OutcomeKey & {
  /** Tells what is asked for from anything else that could be. */
  readonly payload_hash: string;
  /** Of whoever is about to do it. */
  readonly claim_id: string;
  /** Microseconds for which nobody else begins, unless that is prolonged. */
  readonly lease_us: number;
  /** Microseconds for which it is kept. */
  readonly keep_us: number;
};

/** An attempt at a write. */
export type OutcomeClaim = OutcomeKey & Pick<NewOutcome, "claim_id">;

export type OutcomeBegun =
  /** It is the claim's to do: for the first time, or because whoever began it has not been heard of since. */
  | { readonly outcome: "begun" }
  | { readonly outcome: "known"; readonly sealed: string }
  | { readonly outcome: "under_way" }
  /** The key was used before, for something else. */
  | { readonly outcome: "conflicting" };

export interface OutcomeStore {
  begin(write: NewOutcome): Promise<OutcomeBegun>;
  /** How a write stands: `lost` when it was begun and its claim has run out, so that it may have been done. */
  find(key: OutcomeKey): Promise<"known" | "never_begun" | "under_way" | "lost">;
  /** Holds on to it for so many microseconds more; false when somebody else has it. */
  prolong(claim: OutcomeClaim, leaseMicroseconds: number): Promise<boolean>;
  /** Keeps what it came to for so many microseconds; false when somebody else has it, or had. */
  settle(claim: OutcomeClaim, sealed: string, keepMicroseconds: number): Promise<boolean>;
  /** Forgets that it was begun, since nothing came of it. */
  abandon(claim: OutcomeClaim): Promise<void>;
  /** Lets others begin what nobody is at work on any more: everything, where there is only one process. */
  free(): Promise<void>;
  /** Removes those whose time is up. */
  expire(): Promise<void>;
}
