// Signatures that anybody can check who has the public key: Ed25519.
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";
import { holdfastError } from "../error.ts";

export type Signer = {
  /** SPKI in base64url: what `verifyAudit` takes. It is no secret, and best handed over by another way than the export. */
  readonly publicKey: string;
  /** Tells one key from another. */
  readonly fingerprint: string;
  /** The signature of a text, in base64url. */
  sign(text: string): string;
};

const SEED_BYTES = 32;

/** A private key of Ed25519 in PKCS #8, up to its seed (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** A signer whose key follows from these 32 bytes; another length throws `invalid_secret_key`. */
export function createSigner(seed: Uint8Array): Signer {
  if (seed.length !== SEED_BYTES) {
    throw holdfastError("invalid_secret_key", `The seed has ${seed.length} bytes, not ${SEED_BYTES}.`);
  }
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const publicKey = spkiText(createPublicKey(key));
  return Object.freeze({
    publicKey,
    fingerprint: fingerprintOf(publicKey),
    sign: (text: string) => sign(null, Buffer.from(text), key).toString("base64url"),
  });
}

/** A public key to check with. */
export type Checker = {
  readonly fingerprint: string;
  /** False for every text but the one that was signed, and for every other way to write the signature. */
  isSigned(text: string, signature: string): boolean;
};

/** Reads a public key from SPKI in base64url or from PEM; undefined when it is no Ed25519 key. */
export function readPublicKey(text: string): Checker | undefined {
  let key: KeyObject;
  try {
    const isPem = text.includes("-----BEGIN PUBLIC KEY-----");
    key = createPublicKey(isPem ? text : { key: Buffer.from(text, "base64url"), format: "der", type: "spki" });
  } catch {
    return undefined;
  }
  if (key.asymmetricKeyType !== "ed25519") return undefined;
  return {
    fingerprint: fingerprintOf(spkiText(key)),
    isSigned(signed, signature) {
      const bytes = Buffer.from(signature, "base64url");
      // Half a letter would have the bytes of another one.
      const isCanonical = signed.isWellFormed() && bytes.toString("base64url") === signature;
      return isCanonical && verify(null, Buffer.from(signed), key, bytes);
    },
  };
}

function spkiText(key: KeyObject): string {
  return key.export({ format: "der", type: "spki" }).toString("base64url");
}

function fingerprintOf(publicKey: string): string {
  return `sha256:${hash("sha256", Buffer.from(publicKey, "base64url"), "hex")}`;
}
