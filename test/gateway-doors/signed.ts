// Messages to webhooks, signed as their senders do.
import { createHmac } from "node:crypto";
import type { Answer, ServedGateway } from "./served-gateway.ts";

export const WEBHOOK_SECRET = "the-webhook-secret";

export function signature(body: string | Uint8Array, secret = WEBHOOK_SECRET): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** A message with the signature that belongs to it, unless the headers say otherwise. */
export async function send(
  served: Pick<ServedGateway, "ask">,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const signed = { "x-sig": signature(body), ...headers };
  return await served.ask(undefined, path, { method: "POST", body, headers: signed });
}
