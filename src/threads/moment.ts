// A moment on both clocks of this process. The steady one stands still while the machine is suspended, and the other one is
// set by people and servers: where a lease may have run out meanwhile, the one counts by which more time has passed.

/** Milliseconds: of the steady clock, and since 1970. */
export type Moment = { readonly steady: number; readonly wall: number };

export function momentNow(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

/** Before everything that this process has done. */
export const longAgo: Moment = { steady: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

/** The most milliseconds that can have passed between the two. */
export function passed(since: Moment, now: Moment): number {
  return Math.max(now.steady - since.steady, now.wall - since.wall);
}
