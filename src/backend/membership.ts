// Which processes are alive, and what becomes of the work that a dead one has leased, whatever the kind of work.

export interface MembershipStore {
  /** Makes a worker known; as long as this process lives, others find that its session is held. */
  register(worker: string): Promise<void>;
  /** Gives back everything that the worker has leased, due now and as if it had not been claimed: nothing is wrong with it. */
  release(worker: string): Promise<void>;
  /** Forgets the worker. */
  leave(worker: string): Promise<void>;
  /**
   * Frees what workers had leased that are dead: on a shared database those that are found dead twice in a row, otherwise
   * every one but the worker itself. To be called by one caller per process, so that two looks are two moments.
   */
  reap(worker: string): Promise<Reaped>;
}

export type Reaped = {
  /** How many workers were dead. */
  readonly workers: number;
  /** How many rows were freed, by the name of their table. */
  readonly freed: Readonly<Record<string, number>>;
};
