// Seals what must not lie readable in a database, and binds what must not be exchanged: both with keys that are derived
// from one secret, so that one secret is all there is to keep.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from "node:crypto";
import { sortedText } from "../../contracts/canonical-json.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { Json } from "../../contracts/json.ts";

/** In each verb `about` says what the value belongs to; a value does not open, and is not the same, for anything else. */
export type Sealing = {
  /** The text, encrypted; other letters each time. */
  seal(text: string, about: string): string;
  /** The text that was sealed. Throws `secret_key_mismatch` when the key, the text or what it is about is another. */
  open(sealed: string, about: string): string;
  /** The same letters for the same value, whatever the order of its keys; nobody without the secret can make them. */
  bind(value: Json, about: string): string;
  /** 32 bytes that the key of signatures is made from. */
  signingSeed(): Uint8Array;
  /** Tells one secret from another and nothing else about it, so that it may be stored. */
  readonly fingerprint: string;
};

export const SECRET_KEY_BYTES = 32;

const CIPHER = "aes-256-gcm";
const VERSION = "s1.";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const authTagLength = TAG_BYTES;

/** A sealing with this secret of 32 bytes; another length throws `invalid_secret_key`. */
export function createSealing(secret: Uint8Array): Sealing {
  if (secret.length !== SECRET_KEY_BYTES) {
    throw holdfastError("invalid_secret_key", `The key has ${secret.length} bytes, not ${SECRET_KEY_BYTES}.`);
  }
  const sealingKey = derivedKey(secret, "holdfast sealing 1");
  const bindingKey = derivedKey(secret, "holdfast binding 1");
  const nextNonce = nonces();

  return Object.freeze({
    seal(text, about) {
      const nonce = nextNonce();
      const cipher = createCipheriv(CIPHER, sealingKey, nonce, { authTagLength });
      cipher.setAAD(Buffer.from(about));
      const encrypted = cipher.update(text, "utf8");
      // The last piece of this cipher is always empty; finishing makes the tag.
      cipher.final();
      return VERSION + Buffer.concat([nonce, encrypted, cipher.getAuthTag()]).toString("base64url");
    },

    open(sealed, about) {
      const bytes = Buffer.from(sealed.slice(VERSION.length), "base64url");
      if (!sealed.startsWith(VERSION) || bytes.length < NONCE_BYTES + TAG_BYTES) throw mismatch(about);
      const end = bytes.length - TAG_BYTES;
      try {
        const decipher = createDecipheriv(CIPHER, sealingKey, bytes.subarray(0, NONCE_BYTES), { authTagLength });
        decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(end));
        const text = decipher.update(bytes.subarray(NONCE_BYTES, end));
        decipher.final();
        return text.toString("utf8");
      } catch (thrown) {
        throw mismatch(about, thrown);
      }
    },

    bind(value, about) {
      // No JSON text holds a NUL, so the two parts cannot be mistaken for others.
      const hmac = createHmac("sha256", bindingKey).update(`${about}\0${sortedText(value)}`);
      return `hmac:${hmac.digest("hex")}`;
    },

    signingSeed: () => derived(secret, "holdfast signing 1", SECRET_KEY_BYTES),

    fingerprint: derived(secret, "holdfast fingerprint 1", 8).toString("hex"),
  } satisfies Sealing);
}

function derived(secret: Uint8Array, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, length));
}

function derivedKey(secret: Uint8Array, purpose: string): KeyObject {
  return createSecretKey(derived(secret, purpose, SECRET_KEY_BYTES));
}

const NONCES_AT_ONCE = 256;

/** Random nonces, each given out once. They are drawn many at a time, because to draw costs more than to seal. */
function nonces(): () => Buffer {
  const drawn = Buffer.allocUnsafeSlow(NONCE_BYTES * NONCES_AT_ONCE);
  let used = drawn.length;
  return () => {
    if (used === drawn.length) {
      randomFillSync(drawn);
      used = 0;
    }
    used += NONCE_BYTES;
    return drawn.subarray(used - NONCE_BYTES, used);
  };
}

function mismatch(about: string, cause?: unknown) {
  return holdfastError("secret_key_mismatch", `What was sealed for ${about} does not open.`, cause);
}
