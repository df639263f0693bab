// A moment on both clocks of this process. The monotonic clock stands still while the machine is suspended, and the wall
// clock can be set by people and servers: whether a lease may have run out is decided by the clock on which more time has
// passed.

/** Milliseconds: of the monotonic clock, and since 1970. */
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
