// Sends JSON to an address, signed with a shared secret, and tells what came of it.
import { createHmac } from "node:crypto";
import { errorMessage } from "../contracts/error.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { SendOutcome } from "./channel.ts";
import { SIGNATURE_HEADER, withTime } from "./verify-secret.ts";

export type Posting = {
  readonly url: string;
  readonly body: JsonMap;
  readonly secret: string;
  readonly idempotencyKey: string;
  /** The header with the time of sending; the time is signed too. */
  readonly timestampHeader: string;
  readonly signal: AbortSignal;
};

/** Statuses after which the same request may well be taken. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 423, 425, 429]);

export async function postSigned({ url, body, secret, idempotencyKey, timestampHeader, signal }: Posting) {
  const text = JSON.stringify(body);
  const time = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", secret)
    .update(withTime(time, Buffer.from(text)))
    .digest("hex");
  const headers = {
    "Content-Type": "application/json",
    "Idempotency-Key": idempotencyKey,
    [timestampHeader]: time,
    [SIGNATURE_HEADER]: `sha256=${signature}`,
  };
  try {
    // Whoever answers with another address would have the secret's signature sent there.
    const response = await fetch(url, { method: "POST", headers, body: text, redirect: "manual", signal });
    await response.body?.cancel();
    return outcomeOf(response);
  } catch (thrown) {
    return { outcome: "later", reason: errorMessage(thrown) } satisfies SendOutcome;
  }
}

function outcomeOf({ ok, status, headers }: Response): SendOutcome {
  if (ok) return undefined;
  const reason = `the receiver answered ${status}`;
  if (status < 500 && !PASSING.has(status)) return { outcome: "refused", reason };
  const seconds = Number(headers.get("retry-after"));
  return { outcome: "later", reason, ...(seconds > 0 && { afterMs: seconds * 1_000 }) };
}
