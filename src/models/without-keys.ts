// Providers repeat the key in their complaint about it. It must not get into records, logs and outcomes.

const KEYS: readonly RegExp[] = [
  /\b(?:Bearer|Basic)\s+[^\s"',;]+/gi,
  // What stands before the @ of an address, and what is passed in it under a telling name.
  /(?<=\/\/)[^\s/@]+(?=@)/g,
  /(?<=[?&](?:api[-_]?key|key|token|access_token|secret)=)[^\s&"']+/gi,
  /\b(?:sk|pk|rk|gsk|xai|key|hf|r8|fw|nvapi|ghp|glpat)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w-]{20,}/g,
  // Letters and digits for so long mean nothing to people.
  /\b(?=\w*\d)(?=\w*[a-z])\w{32,}\b/gi,
];

/** Parts that are joined by dots, as those of a JSON Web Token are. */
const DOTTED = /(?<![\w-])[\w-]+(?:\.[\w-]*)+/g;

const WEB_TOKEN_HEADER = /\beyJ[\w-]/;

/** The text with everything that looks like a key replaced by `[redacted]`. */
export function withoutKeys(text: string): string {
  const withoutTokens = text.replace(DOTTED, withoutWebTokens);
  return KEYS.reduce((kept, key) => kept.replace(key, "[redacted]"), withoutTokens);
}

/**
 * A web token is a header, a payload and a signature, which may be empty. It is looked for part by part: one expression
 * for all three would read a long text again from every place where a header might begin.
 */
function withoutWebTokens(dotted: string): string {
  const parts = dotted.split(".");
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? "";
    const begin = at + 2 < parts.length && parts[at + 1] ? part.search(WEB_TOKEN_HEADER) : -1;
    kept.push(begin < 0 ? part : `${part.slice(0, begin)}[redacted]`);
    if (begin >= 0) at += 2;
  }
  return kept.join(".");
}
