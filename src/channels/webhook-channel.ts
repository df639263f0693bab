// A channel that needs no service in between: signed webhooks in, signed webhooks out.
import { z } from "zod";
import { type Channel, type ChannelOptions, channel } from "./channel.ts";
import { postSigned } from "./post-signed.ts";

export type WebhookChannelOptions = Pick<ChannelOptions, "name" | "agent"> &
  Partial<Omit<ChannelOptions, "name" | "agent" | "secret" | "verify" | "signature" | "extract" | "send">> & {
    /** With which requests are signed, both ways. The first signs; the others are still taken. */
    readonly secret: string | readonly string[];
    /** Where replies are sent. */
    readonly replyUrl: string;
  };

/** The time of sending in seconds since 1970, part of what is signed. */
const TIMESTAMP_HEADER = "X-Signature-Timestamp";

const incoming = z.object({
  message_id: z.string().min(1).max(500),
  conversation_id: z.string().min(1).max(500).optional(),
  sender_id: z.string().max(500).optional(),
  text: z.string(),
  attachments: z.array(z.json()).max(20).optional(),
});

/**
 * Takes `{ message_id, conversation_id?, sender_id?, text, attachments? }` and sends
 * `{ type, text, conversation_id, in_reply_to, thread_id }`, each with `X-Signature-256: sha256=<HMAC of "time.body">` and
 * `X-Signature-Timestamp`.
 */
export function webhookChannel({ secret, replyUrl, ...options }: WebhookChannelOptions): Channel {
  const secrets = [secret].flat();
  return channel({
    provider: "webhook",
    ...options,
    secret: secrets,
    signature: { timestamp_header: TIMESTAMP_HEADER },
    extract(request) {
      const { success, data, error } = incoming.safeParse(request.json());
      if (!success) throw new TypeError(z.prettifyError(error));
      const { conversation_id = null, sender_id = null, attachments = [], ...said } = data;
      return { messages: [{ ...said, conversation_id, sender_id, attachments }] };
    },
    async send({ text, kind, idempotency_key, conversation_id, in_reply_to, thread_id }, { signal }) {
      return await postSigned({
        url: replyUrl,
        body: { type: kind, text, conversation_id, in_reply_to, thread_id },
        secret: secrets[0] ?? "",
        ...{ idempotencyKey: idempotency_key, timestampHeader: TIMESTAMP_HEADER, signal },
      });
    },
  });
}
