// Of samples, the one in the middle: what a figure of the benchmark is, because a busy machine spoils a mean.

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** The sample that so large a share of the others is not above. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((left, right) => left - right);
  return sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
}

/**
 * How many times as long the one took as the other: round by round, because the two samples of a round are taken close
 * together, and of these ratios the median.
 */
export function medianRatio(ones: readonly number[], others: readonly number[]): number {
  return median(ones.map((one, round) => one / (others[round] ?? Number.NaN)));
}
