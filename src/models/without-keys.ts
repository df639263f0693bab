// Providers repeat the key in their complaint about it. It must not get into records, logs and outcomes.

const KEYS: readonly RegExp[] = [
  /\b(?:Bearer|Basic)\s+[^\s"',;]+/gi,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  // What stands before the @ of an address, and what is passed in it under a telling name.
  /(?<=\/\/)[^\s/@]+(?=@)/g,
  /(?<=[?&](?:api[-_]?key|key|token|access_token|secret)=)[^\s&"']+/gi,
  /\b(?:sk|pk|rk|gsk|xai|key|hf|r8|fw|nvapi|ghp|glpat)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w-]{20,}/g,
  // Letters and digits for so long mean nothing to people.
  /\b(?=\w*\d)(?=\w*[a-z])\w{32,}\b/gi,
];

/** The text with whatever looks like a key taken out. */
export function withoutKeys(text: string): string {
  return KEYS.reduce((kept, key) => kept.replace(key, "[redacted]"), text);
}
