// The values of a statement, checked before a database sees them: a driver that would fail half way through writing one
// must not have begun.

/** Throws a TypeError unless each is what a column can hold. */
export function checkValues(values: readonly unknown[]): void {
  // Not the values themselves: they may be secrets.
  const at = values.findIndex((value) => !isScalar(value));
  if (at !== -1)
    throw new TypeError(`No column can hold what is given for $${at + 1}, of the type ${typeof values[at]}.`);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "number" || value instanceof Uint8Array;
}
