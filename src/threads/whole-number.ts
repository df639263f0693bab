// Whole numbers as a definition may give them: how often, and how many milliseconds.

/** True for a whole number from `least` to `most`. */
export function isWholeNumber(value: unknown, least: number, most: number = Number.MAX_SAFE_INTEGER): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most;
}
