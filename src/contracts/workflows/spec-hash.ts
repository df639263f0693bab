// By which a run says what it ran: the same for two specs that differ in the order of their keys alone.
import { text as escapedText, sha256 } from "../canonical-json.ts";
import * as canonicalPayload from "../canonical-payload.ts";
import type { JsonMap } from "../json.ts";

/** Hex SHA-256 of a raw spec. */
export function specHash(raw: JsonMap): string {
  return sha256(canonicalPayload.text(raw, escapedText));
}
