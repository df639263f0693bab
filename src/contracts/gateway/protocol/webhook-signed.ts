// What the signature of a webhook covers, and whether it is the right one.
import { createHmac, timingSafeEqual } from "node:crypto";
import { verify } from "../../channels/webhook-signature.ts";

/** `id.timestamp.body` is the scheme of Standard Webhooks. */
export const signedPayloads = ["body", "timestamp.body", "id.timestamp.body"] as const;
export type SignedPayload = (typeof signedPayloads)[number];

export type WebhookParts = {
  readonly body: Uint8Array;
  /** As the headers have them. */
  readonly timestamp: string | undefined;
  readonly id: string | undefined;
};

/** The bytes that were signed; undefined when a header that belongs to them is missing. */
export function signedBytes(kind: SignedPayload, { id, timestamp, body }: WebhookParts): Uint8Array | undefined {
  const before = kind === "body" ? [] : kind === "timestamp.body" ? [timestamp] : [id, timestamp];
  if (before.some((part) => part === undefined || part === "")) return undefined;
  return Buffer.concat([Buffer.from(before.map((part) => `${part}.`).join("")), body]);
}

/**
 * True when the header holds the HMAC-SHA256 of the bytes as hex digits, with or without `sha256=`; for
 * `id.timestamp.body` also as a list of `v1,<base64>`, with a secret that may be written `whsec_<base64>`.
 */
export function isSigned(kind: SignedPayload, signed: Uint8Array, header: string, secret: string): boolean {
  if (verify(signed, header, secret, { allow_raw_hex: true })) return true;
  if (kind !== "id.timestamp.body") return false;
  const key = secret.startsWith(KEY_PREFIX) ? Buffer.from(secret.slice(KEY_PREFIX.length), "base64") : secret;
  // An empty key is no secret.
  if (key.length === 0) return false;
  const right = createHmac("sha256", key).update(signed).digest();
  const listed = header.split(/\s+/).filter((each) => SIGNATURE.test(each));
  return listed.some((each) => timingSafeEqual(Buffer.from(each.slice(VERSION.length), "base64"), right));
}

const KEY_PREFIX = "whsec_";
const VERSION = "v1,";
/** 32 bytes. */
const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/;
