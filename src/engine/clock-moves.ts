// Tests that move the clock: each call waits until the work that is due since then is under way.

export class ClockMoves {
  #waiting: ((begun: Promise<unknown>) => void)[] = [];
  #begun: Promise<unknown>[] = [];

  /** How many calls wait now. */
  get count(): number {
    return this.#waiting.length;
  }

  /** Resolves once the work loop has looked at this move, and what it claimed for it is under way. */
  async lookedAt(): Promise<void> {
    await new Promise<unknown>((resolve) => this.#waiting.push(resolve));
  }

  /** Something was claimed. `begun` resolves once it is under way, and never rejects. */
  claimed(begun: Promise<unknown>): void {
    this.#begun.push(begun);
  }

  /** Everything that was due for the first `count` calls was claimed: they go on once it is under way. */
  release(count: number): void {
    const begun = Promise.all(this.#begun);
    this.#begun = [];
    for (const resolve of this.#waiting.splice(0, count)) resolve(begun);
  }
}
