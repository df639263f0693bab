// A clock that somebody holds in place of the machine's: for tests of what takes time.
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number;
  /** Called back whenever the clock was moved, until the returned function is called; whoever moves it waits for that. */
  watch(onMoved: () => Promise<void>): () => void;
};
