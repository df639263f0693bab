// Whether the dispatcher is paused, for the whole installation.

/** `from`: microseconds by the database's clock. */
export type Pause = { readonly from: number; readonly by: string };

export interface GatewayControlStore {
  /** No job is claimed from now on; those that run go on. False when it is paused already. */
  pause(by: string): Promise<boolean>;
  /** False when it is not paused. */
  resume(): Promise<boolean>;
  isPaused(): Promise<boolean>;
  /** The pause that is under way. */
  currentPause(): Promise<Pause | undefined>;
  /** Microseconds of pauses since a time, the one that is under way included. */
  pausedSince(time: number): Promise<number>;
  /** The database's clock, in microseconds. */
  now(): Promise<number>;
}
