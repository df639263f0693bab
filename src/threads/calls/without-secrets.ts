// A value without the secrets that code has read on the way to it: models and readers are shown what comes of a call.
import { REDACTED } from "../../contracts/tools/sensitive-keys.ts";

/** Shorter ones would blank out words that merely look alike. */
const SHORTEST = 6;

/** What is nested deeper cannot be stored, and is refused there. */
const DEEPEST = 1_000;

export function withoutSecrets(value: unknown, secrets: ReadonlySet<string>): unknown {
  // The longest first: what is left of one that begins like another would still tell a part of it.
  const hidden = [...secrets]
    .filter(({ length }) => length >= SHORTEST)
    .sort((one, other) => other.length - one.length);
  return hidden.length === 0 ? value : cleaned(value, hidden, []);
}

/** As it would be stored, so that nothing but secrets is lost on the way. `above`: what it is part of. */
function cleaned(value: unknown, hidden: readonly string[], above: readonly object[]): unknown {
  if (typeof value === "string") return cleanText(value, hidden);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (above.includes(value) || above.length > DEEPEST) return value;
  const within = [...above, value];
  if (value instanceof Error) return new Error(cleanText(value.message, hidden));
  if ("toJSON" in value && typeof value.toJSON === "function") return cleaned(value.toJSON(), hidden, within);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, hidden, within));
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [cleanText(key, hidden), cleaned(item, hidden, within)]));
}

function cleanText(text: string, hidden: readonly string[]): string {
  return hidden.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
}
