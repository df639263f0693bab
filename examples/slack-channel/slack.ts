// A channel for Slack's Events API: what Slack sends is verified and read here, and replies go to chat.postMessage.
import { type Channel, type ChannelRequest, channel, isRecentTimestamp, verifyWebhookSignature } from "holdfast";

export type SlackOptions = {
  readonly agent: string;
  /** "Signing Secret" of the app. */
  readonly signingSecret: string;
  /** "Bot User OAuth Token". */
  readonly botToken: string;
  readonly apiUrl?: string;
};

type SlackEvent = Record<
  "type" | "subtype" | "bot_id" | "user" | "text" | "channel" | "channel_type" | "ts" | "thread_ts",
  string | undefined
>;

/** Errors that no repetition mends. */
const FINAL = ["channel_not_found", "is_archived", "msg_too_long", "no_text", "not_in_channel"];

export function slackChannel({
  agent,
  signingSecret,
  botToken,
  apiUrl = "https://slack.com/api",
}: SlackOptions): Channel {
  return channel({
    name: "slack",
    agent,
    verify(request: ChannelRequest) {
      const time = request.header("x-slack-request-timestamp");
      if (!isRecentTimestamp(time, request.receivedAt, 300)) return false;
      const signed = `v0:${time}:${request.text()}`;
      return verifyWebhookSignature(signed, request.header("x-slack-signature"), signingSecret, {
        expected_prefix: "v0=",
      });
    },
    extract(request) {
      const body = request.json();
      if (body.type === "url_verification") return { answer: { challenge: String(body.challenge) } };
      if (body.type !== "event_callback") return { ignored: `a ${String(body.type)}` };
      const event = body.event as SlackEvent;
      // Bots hear themselves; edits and deletions are messages too, with a subtype.
      if (event.bot_id !== undefined || event.subtype !== undefined) return { ignored: "not from a person" };
      if (event.type !== "message" && event.type !== "app_mention") return { ignored: `a ${String(event.type)}` };
      const { channel: room = "", ts = "", thread_ts } = event;
      const isDirect = event.channel_type === "im";
      const thread = isDirect ? thread_ts : (thread_ts ?? ts);
      return {
        messages: [
          {
            text: event.text ?? "",
            // The same for a retry, and for a mention that comes as a message as well.
            message_id: `${room}:${ts}`,
            conversation_id: thread === undefined ? room : `${room}:${thread}`,
            sender_id: event.user ?? null,
            room_kind: isDirect ? "dm" : "channel",
            reply_to: { channel: room, ...(thread !== undefined && { thread_ts: thread }) },
          },
        ],
      };
    },
    async send({ text, reply_to, idempotency_key }, { signal }) {
      const response = await fetch(`${apiUrl}/chat.postMessage`, {
        method: "POST",
        headers: { Authorization: `Bearer ${botToken}`, "Content-Type": "application/json; charset=utf-8" },
        // Slack keeps no keys; whoever looks for a reply that was posted twice finds it here.
        body: JSON.stringify({
          ...reply_to,
          text,
          metadata: { event_type: "reply", event_payload: { idempotency_key } },
        }),
        signal,
      });
      const seconds = Number(response.headers.get("retry-after"));
      if (!response.ok)
        return { outcome: "later", reason: `Slack answered ${response.status}`, afterMs: seconds * 1_000 };
      const { ok, error } = (await response.json()) as { ok: boolean; error?: string };
      if (ok) return undefined;
      return { outcome: FINAL.includes(String(error)) ? "refused" : "later", reason: `Slack said ${error}` };
    },
  });
}
