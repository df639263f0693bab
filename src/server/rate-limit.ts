// How often somebody may come: a bucket of tokens for each, which fills up again with time.

export type Rate = { readonly perSecond: number; readonly burst: number };

export interface RateLimit {
  /** 0 when there was one left to take, else the whole seconds after which there is one again. */
  take(who: string): number;
}

type Bucket = { tokens: number; at: number };

/** Buckets beyond so many are looked through for full ones, which tell nothing and can go. */
const MANY = 10_000;

export function createRateLimit({ perSecond, burst }: Rate, now: () => number = Date.now): RateLimit {
  const buckets = new Map<string, Bucket>();
  const fullAfterMs = (burst / perSecond) * 1_000;
  let sweepAt = MANY;

  function sweep(time: number): void {
    for (const [who, { at }] of buckets) if (time - at > fullAfterMs) buckets.delete(who);
    // If nearly all of them are in use, looking again at once would find the same.
    sweepAt = Math.max(MANY, buckets.size * 2);
  }

  return {
    take(who) {
      const time = now();
      let bucket = buckets.get(who);
      if (!bucket) {
        if (buckets.size >= sweepAt) sweep(time);
        bucket = { tokens: burst, at: time };
        buckets.set(who, bucket);
      }
      // A clock that was set back adds nothing and takes nothing.
      bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, time - bucket.at) / 1_000) * perSecond);
      bucket.at = time;
      if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
      bucket.tokens -= 1;
      return 0;
    },
  };
}
