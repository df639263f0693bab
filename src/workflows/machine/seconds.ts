/** Milliseconds in the whole seconds of records. */
export function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}
