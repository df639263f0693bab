// Requests that are signed with a shared secret. With a timestamp in what is signed, an old one counts for nothing.
import { type SignatureOptions, verify } from "../contracts/channels/webhook-signature.ts";
import type { ChannelRequest } from "./channel-request.ts";

export type SecretOptions = SignatureOptions & {
  /** The header with the signature; `X-Signature-256` unless given. */
  readonly header?: string;
  /** The header with the time of sending in seconds since 1970; part of what is signed, as `<time>.<body>`. */
  readonly timestamp_header?: string;
  /** How far that time may be from now, in seconds; 300 unless given. */
  readonly tolerance_seconds?: number;
};

export const SIGNATURE_HEADER = "X-Signature-256";

/** True for a request that one of the secrets has signed. */
export function verifiedBy(secrets: readonly string[], options: SecretOptions = {}) {
  const { header = SIGNATURE_HEADER, timestamp_header, tolerance_seconds = 300, ...signature } = options;

  return (request: ChannelRequest): boolean => {
    const time = timestamp_header === undefined ? undefined : request.header(timestamp_header);
    if (timestamp_header !== undefined && !isRecent(time, request.receivedAt, tolerance_seconds)) return false;
    const signed = time === undefined ? request.body : withTime(time, request.body);
    return secrets.some((secret) => verify(signed, request.header(header), secret, signature));
  };
}

export function isRecent(time: string | undefined, now: number, toleranceSeconds: number): boolean {
  if (time === undefined || !/^\d{1,12}$/.test(time)) return false;
  return Math.abs(now / 1_000 - Number(time)) <= toleranceSeconds;
}

/** What is signed: the time cannot be changed without the signature. */
export function withTime(time: string, body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${time}.`), body]);
}
