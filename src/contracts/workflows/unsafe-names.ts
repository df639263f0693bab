/** Names that a reader of a map might take for something else than a key. */
export const unsafeNames: readonly string[] = ["__proto__", "constructor", "prototype"];
