// Callbacks may answer at once or later. Waiting for an answer that is already there costs more than most callbacks do.

/** What `next` makes of a value: at once when the value is there, otherwise when it arrives. */
export function whenReady<Value, Next>(
  value: Value | PromiseLike<Value>,
  next: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

/** True for a promise, whoever made it. */
export function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  if (typeof value !== "object" && typeof value !== "function") return false;
  return value !== null && "then" in value && typeof value.then === "function";
}

/** What a call returns or resolves to; undefined when it throws or rejects. For those who must not break what they see. */
export function quietly(call: () => unknown): unknown {
  try {
    const returned = call();
    return isThenable(returned) ? Promise.resolve(returned).catch(() => undefined) : returned;
  } catch {
    return undefined;
  }
}
