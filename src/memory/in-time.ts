// Waits for somebody else's code, but not for ever: what is put together for a model must not hang on one function.

class TookTooLong extends Error {}

/** What a function returns or resolves to. Throws what it throws, and `TookTooLong` after that many milliseconds. */
export async function inTime<Value>(milliseconds: number, call: () => Value | Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TookTooLong(`It did not answer within ${milliseconds} ms.`)), milliseconds);
  });
  try {
    return await Promise.race([(async () => await call())(), timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
