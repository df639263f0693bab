// Those who moved the clock that they hold: each waits until the worker has begun with what is due since then.
import type { Progress } from "./progress.ts";

export class ClockMoves {
  #waiting: ((begun: Promise<unknown>) => void)[] = [];
  #begun: Promise<void>[] = [];

  /** How many wait now. */
  get count(): number {
    return this.#waiting.length;
  }

  /** Resolves once this move was looked at, and what was taken for it is under way. */
  async lookedAt(): Promise<void> {
    await new Promise<unknown>((resolve) => this.#waiting.push(resolve));
  }

  /** A thread was taken. From its first commit on it is seen to be running; it may also be laid down without one. */
  took(threadId: string, done: Promise<void>, progress: Progress): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const unwatch = progress.watch(threadId, () => resolve());
    void done.then(resolve, resolve);
    this.#begun.push(promise.then(unwatch));
  }

  /** The first so many have waited for everything that was due. */
  release(count: number): void {
    const begun = Promise.all(this.#begun);
    this.#begun = [];
    for (const resolve of this.#waiting.splice(0, count)) resolve(begun);
  }
}
