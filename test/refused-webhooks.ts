// Webhooks that are refused: the sender has to prove that they are its own, and recent.
import { createHmac } from "node:crypto";
import type { Refused } from "./refused-request.ts";
import type { Answer, Served } from "./served-runtime.ts";

/** A webhook that was signed so long ago, with this secret; now, and with the right one, unless given. */
function webhook(served: Served, body: string, { secret = "shared", secondsAgo = 0 } = {}): Promise<Answer> {
  const time = String(Math.floor(Date.now() / 1_000) - secondsAgo);
  const signature = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  const headers = { "x-signature-timestamp": time, "x-signature-256": `sha256=${signature}` };
  return served.ask(undefined, "/channels/desk", { method: "POST", body, headers });
}

const greeting = JSON.stringify({ message_id: "1", conversation_id: "c", text: "Hello" });

export const refusedWebhooks: readonly Refused[] = [
  {
    what: "A webhook without a signature",
    status: 401,
    code: "channel_signature_invalid",
    send: (served) => served.ask(undefined, "/channels/desk", { method: "POST", body: greeting }),
  },
  {
    what: "A webhook with a forged signature",
    status: 401,
    code: "channel_signature_invalid",
    send: (served) => webhook(served, greeting, { secret: "guessed" }),
  },
  {
    what: "A webhook that was signed long ago and comes again",
    status: 401,
    code: "channel_signature_invalid",
    send: (served) => webhook(served, greeting, { secondsAgo: 3_600 }),
  },
  {
    what: "A webhook that is signed and makes no sense",
    status: 400,
    code: "channel_payload_invalid",
    send: (served) => webhook(served, "[]"),
  },
  {
    what: "A webhook for a channel that there is not",
    status: 404,
    code: "channel_not_found",
    send: (served) => served.ask(undefined, "/channels/nowhere", { method: "POST", body: greeting }),
  },
];
