// Which configuration each process of the gateway has loaded, so that several of them agree on the one that counts.

export type LoadedConfiguration = {
  /** Of what the processes have to agree on. */
  readonly digest: string;
  /** The one with the highest number was loaded last. */
  readonly number: number;
};

export interface ConfigurationStore {
  /** Rises with every call, in the whole installation. */
  nextNumber(): Promise<number>;
  /** Keeps what a worker has loaded last for as long as it is alive. Changes nothing while the worker is taken for dead. */
  put(worker: string, loaded: LoadedConfiguration): Promise<void>;
  /** What was loaded last by a worker that is alive. */
  newest(): Promise<LoadedConfiguration | undefined>;
}
