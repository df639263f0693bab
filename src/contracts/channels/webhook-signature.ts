// Whether a webhook was sent by somebody who knows the shared secret. A message that was recorded and sent again has a
// valid signature too: that is noticed by its id.
import { createHmac, timingSafeEqual } from "node:crypto";
import { trim } from "../coerce.ts";
import { asMap, emptyMap } from "../json.ts";

export type SignatureOptions = {
  /** What stands before the digits; `sha256=` unless given. Case counts. */
  readonly expected_prefix?: string;
  /** True to take the digits alone as well. */
  readonly allow_raw_hex?: boolean;
};

const PREFIX = "sha256=";

/** True when the header holds the HMAC-SHA256 of the very bytes of the body. Never throws; no secret is never right. */
export function verify(body: unknown, header: unknown, secret: unknown, options: SignatureOptions = {}): boolean {
  if (typeof secret !== "string" || secret === "" || typeof header !== "string") return false;
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return false;
  const digits = signatureIn(trim(header), options);
  if (digits === undefined || !/^[0-9a-f]{64}$/i.test(digits)) return false;
  return timingSafeEqual(Buffer.from(digits, "hex"), createHmac("sha256", secret).update(body).digest());
}

function signatureIn(header: string, options: unknown): string | undefined {
  const { expected_prefix: given, allow_raw_hex: allowsRaw } = asMap(options) ?? emptyMap;
  const prefix = typeof given === "string" ? given : PREFIX;
  if (prefix !== "" && header.startsWith(prefix)) return trim(header.slice(prefix.length));
  return allowsRaw === true ? header : undefined;
}
