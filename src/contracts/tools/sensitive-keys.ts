// Which names give a secret away. Matching is deliberately broad: hiding `max_tokens` costs less than showing a token.

/** What stands in the place of a value that must not be shown. */
export const REDACTED = "[redacted]";

// `token` covers the auth token that the contract lists beside it.
const SENSITIVE =
  /api[_-]?key|authorization|bearer|cookie|credential|nonce|password|private[_-]?key|secret|session[_-]?id|token/i;

/** True when a key contains one of the sensitive words, in any case. */
export function isSensitiveKey(key: string): boolean {
  return SENSITIVE.test(key);
}
