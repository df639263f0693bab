// Whether a webhook's body is accepted: its size, then its signature.
import { isSigned, type SignedPayload, signedBytes } from "./webhook-signed.ts";

export const MAX_WEBHOOK_BYTES = 1024 * 1024;

export type SignedBody = {
  readonly secret: string;
  /** The very bytes that came, or their text. */
  readonly body: Uint8Array | string;
  /** Value of the signature header: `sha256=<hex>` or the hex digits alone. */
  readonly header: string | undefined;
  readonly max_body_bytes?: number;
  /** `body` unless given; for the others the headers that are signed with it. */
  readonly signed_payload?: SignedPayload;
  readonly timestamp?: string | undefined;
  readonly id?: string | undefined;
};

/** The HTTP status for a body: 202 when accepted, 413 when too large, 403 when the signature is missing or wrong. */
export function webhookStatus({
  secret,
  body,
  header,
  max_body_bytes = MAX_WEBHOOK_BYTES,
  signed_payload = "body",
  timestamp,
  id,
}: SignedBody): 202 | 403 | 413 {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  if (bytes.byteLength > max_body_bytes) return 413;
  const signed = signedBytes(signed_payload, { body: bytes, timestamp, id });
  return signed && isSigned(signed_payload, signed, header ?? "", secret) ? 202 : 403;
}

/**
 * True when the time in a header is within the tolerance of now. The header holds Unix seconds, or milliseconds, or an
 * ISO 8601 time.
 */
export function isFresh(header: string | undefined, nowMs: number, toleranceMs: number): boolean {
  const sentMs = parseTime(header?.trim() ?? "");
  return sentMs !== undefined && Math.abs(nowMs - sentMs) <= toleranceMs;
}

// Seconds have ten digits until the year 2286, milliseconds have had thirteen since 2001.
const MILLISECOND_DIGITS = 13;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

function parseTime(text: string): number | undefined {
  if (/^\d{1,15}$/.test(text)) return text.length >= MILLISECOND_DIGITS ? Number(text) : Number(text) * 1000;
  if (!ISO_TIME.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
