// How a server shows that it is the one whose key stands in the file beside the database, and not whoever listens on its
// port after it was killed: it answers what it could not know before with an HMAC under that key.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export const NONCE_HEADER = "x-holdfast-nonce";
export const PROOF_HEADER = "x-holdfast-proof";

/** As it is made here; nothing else is signed. */
const NONCE = /^[\w-]{43}$/;
const RANDOM_BYTES = 32;

/** For keys and for nonces alike. */
export function randomText(): string {
  return randomBytes(RANDOM_BYTES).toString("base64url");
}

/** Undefined for what is no nonce. */
export function proofOf(key: string, nonce: string | undefined): string | undefined {
  return nonce !== undefined && NONCE.test(nonce) ? hmac(key, nonce).toString("base64url") : undefined;
}

export function isProof(key: string, nonce: string, proof: string | null): boolean {
  const given = Buffer.from(proof ?? "", "base64url");
  const right = hmac(key, nonce);
  return given.length === right.length && timingSafeEqual(given, right);
}

function hmac(key: string, nonce: string): Buffer {
  return createHmac("sha256", key).update(`holdfast server\n${nonce}`).digest();
}
