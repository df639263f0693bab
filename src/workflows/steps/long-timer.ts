// Timers for any time: the process fires one of more than 24 days at once.

const LONGEST_MS = 2 ** 31 - 1;

/** Calls after so many milliseconds. The function that is returned calls it off. */
export function after(milliseconds: number, call: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (left: number): void => {
    timer = setTimeout(() => (left > LONGEST_MS ? wait(left - LONGEST_MS) : call()), Math.min(left, LONGEST_MS));
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}
