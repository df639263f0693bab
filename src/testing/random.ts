// Chance that can be had again: the same seed, the same sequence.
export type Random = {
  /** A whole number from 0 up to, not including, the given one. */
  below(limit: number): number;
  /** So many of them, in random order. */
  some<Item>(items: readonly Item[], count: number): readonly Item[];
};

/** A small generator of the kind mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    some(items, count) {
      const left = [...items];
      return Array.from({ length: Math.min(count, left.length) }, () => left.splice(below(left.length), 1)).flat();
    },
  };
}

/** The one in HOLDFAST_CRASH_SEED, to have a failure again, or any. */
export function chooseSeed(given: string | undefined = process.env.HOLDFAST_CRASH_SEED): number {
  return given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
}
