// When scheduled commands are due, and the circuit breakers of those that keep failing.
import type { EnqueueOutcome, NewJob, NewStreamEntry } from "./job-store.ts";

export type ScheduleStatus = "active" | "paused_manual" | "paused_invalid" | "exhausted";

export type StoredSchedule = {
  readonly plugin: string;
  readonly schedule_id: string;
  /** Of its definition: a changed one is computed anew. */
  readonly definition_hash: string;
  readonly status: ScheduleStatus;
  readonly reason: string | null;
  readonly next_run_at: number | null;
  readonly last_run_at: number | null;
  readonly last_success_at: number | null;
  /** Since when it is in the configuration no more. */
  readonly removed_at: number | null;
};

export type BreakerState = "closed" | "open" | "half_open";
export type StoredBreaker = {
  readonly plugin: string;
  readonly command: string;
  readonly state: BreakerState;
  readonly failures: number;
  readonly opened_at: number | null;
};

export interface ScheduleStore {
  /** By plugin, then id; those that were removed as well. */
  list(): Promise<readonly StoredSchedule[]>;
  get(plugin: string, scheduleId: string): Promise<StoredSchedule | undefined>;
  /** Adds a schedule where none is expected, or replaces the expected one; false when another process was faster. */
  put(schedule: StoredSchedule, expected: StoredSchedule | undefined): Promise<boolean>;
  /** Forgets the schedules that were removed so long ago. */
  forget(microseconds: number): Promise<void>;
  /**
   * Replaces a schedule and queues its jobs, if it is active, is defined as before and its next run is still the expected one:
   * of several processes one does it. The breaker is replaced with them, if it is still the expected one.
   * Duplicates are left out, together with the stream entries of their ids.
   */
  fire(fire: {
    readonly schedule: StoredSchedule;
    readonly expected_next_run_at: number | null;
    readonly jobs: readonly NewJob[];
    readonly stream: readonly NewStreamEntry[];
    readonly breaker?: { readonly next: StoredBreaker; readonly expected: StoredBreaker };
  }): Promise<FireOutcome>;
  /** False when there is no such schedule, or it was removed. */
  setStatus(plugin: string, scheduleId: string, status: ScheduleStatus, reason: string | null): Promise<boolean>;

  breaker(plugin: string, command: string): Promise<StoredBreaker | undefined>;
  /** By plugin, then command. */
  breakers(): Promise<readonly StoredBreaker[]>;
  /**
   * Adds a breaker where none is expected, or replaces the expected one; false when another process was faster, and nothing
   * is added to the event stream then.
   */
  putBreaker(
    breaker: StoredBreaker,
    expected: StoredBreaker | undefined,
    stream?: readonly NewStreamEntry[],
  ): Promise<boolean>;
}

export type FireOutcome =
  /** Outcomes in the order of the jobs. */
  | { readonly outcome: "fired"; readonly jobs: readonly EnqueueOutcome[] }
  /** Another process was faster: nothing was changed. */
  | { readonly outcome: "taken" };
