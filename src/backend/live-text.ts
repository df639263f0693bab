// Text in flight, for readers in other processes. It is not part of the record: what a crash loses, the next attempt
// tells again.

export type LiveText = {
  readonly thread_id: string;
  readonly step: number;
  readonly attempt: number;
  readonly content: string;
};

export interface LiveTextStore {
  put(text: LiveText): Promise<void>;
  get(threadIds: readonly string[]): Promise<readonly LiveText[]>;
  clear(threadId: string): Promise<void>;
}
