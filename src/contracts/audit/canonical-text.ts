// The JSON text that the audit hashes and signs: RFC 8785, so that a stranger can check it in any language. The contract's
// own canonical JSON is another one, and would cost every commit several times as much.

/** The text of a JSON value with the keys of every map sorted. No two values have the same one. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const map = value as Readonly<Record<string, unknown>>;
  const fields = Object.keys(map).sort();
  return `{${fields.map((key) => `${JSON.stringify(key)}:${canonicalText(map[key])}`).join(",")}}`;
}

/** The same for a map of plain values, or of lists of them, whose keys are in order: that is checked by tests alone. */
export function orderedText(map: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(map);
}
