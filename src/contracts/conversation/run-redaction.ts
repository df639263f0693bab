// A run as those see it who may watch it but not look inside: what it was given and what it made are covered up.
import { isContainer, isMap, type Json, type JsonMap, seal, snapshot } from "../json.ts";
import { REDACTED } from "../tools/sensitive-keys.ts";

// Broader than what counts as a secret: package, workflow and output are a run's content. A session id is not, because
// whoever watches a run needs it to tell which one it is.
const COVERED =
  /api[_-]?key|authorization|bearer|cookie|credential|diagnostics|nonce|output|package|password|private[_-]?key|provenance|raw|secret|token|workflow/i;

const coveredContainer = seal({ redacted: true });

/**
 * The payload with every value under a telling key replaced at any depth: by `{ redacted: true }` where it is a list or
 * a map, by `[redacted]` where it is anything else, null included.
 */
export function redactPayload(payload: unknown): Json {
  return redact(snapshot(payload));
}

function redact(value: Json): Json {
  if (!isContainer(value)) return value;
  return isMap(value) ? redactMap(value) : seal(value.map(redact));
}

function redactMap(map: JsonMap): JsonMap {
  const redacted: Record<string, Json> = {};
  for (const [key, item] of Object.entries(map)) redacted[key] = COVERED.test(key) ? cover(item) : redact(item);
  return seal(redacted);
}

function cover(value: Json): Json {
  return isContainer(value) ? coveredContainer : REDACTED;
}
