// What becomes of a message that a hook has answered in the place of the agent, or wants somebody to be asked about: whoever
// wrote is told here and now, because nothing is stored that could tell him later.
import { handle } from "../contracts/channels/channel-pipeline.ts";
import * as externalMessage from "../contracts/channels/external-message.ts";
import { isMap, type JsonMap } from "../contracts/json.ts";
import { isOperationError } from "../contracts/operation-error.ts";
import { quietly } from "../contracts/when-ready.ts";
import type { Channel, InboundMessage, OutboundMessage } from "./channel.ts";
import { externalFields } from "./external-fields.ts";

const TIMEOUT_MS = 5_000;

/** Throws when an answer was not taken, so that the message comes again. */
export async function answerInstead(channel: Channel, message: InboundMessage, value: unknown): Promise<JsonMap> {
  const { message_id } = message;
  const { waitingText } = channel;
  if (isMap(value) && value.type === "approval_required") {
    if (waitingText !== null) await quietly(() => post(channel, message, waitingText, "notice"));
    return { status: "held", reason: "approval_required", message_id };
  }
  const isSilent = isOperationError(value) && value.code === "silent_skip";
  const { error } = await handle(message, {
    channel: { agent: channel.agent, client_name: channel.name },
    read: () => externalMessage.normalize(externalFields(message, { client_name: channel.name, ...channel })),
    session: async () => undefined,
    remember: async () => undefined,
    chat: async () => value,
    sendResponse: (text) => post(channel, message, text, "reply"),
    sendError: async (text) => (isSilent ? undefined : await refuse(channel, message, text)),
  });
  return error ? { status: "ignored", reason: error.code, message_id } : { status: "accepted", message_id };
}

/** Says why a message is not answered. Once is enough: nothing was promised. */
export async function refuse(channel: Channel, message: InboundMessage, text: string): Promise<void> {
  await quietly(() => post(channel, message, text, "error"));
}

async function post(
  channel: Channel,
  message: InboundMessage,
  text: string,
  kind: OutboundMessage["kind"],
): Promise<void> {
  const { message_id, conversation_id = null, sender_id = null, reply_to = {} } = message;
  const about = { conversation_id, sender_id, reply_to, in_reply_to: message_id, thread_id: "" };
  const idempotency_key = `${kind === "error" ? "refused" : kind}:${channel.name}:${message_id}`;
  const sent = await channel.send(
    { text, kind, idempotency_key, ...about },
    { signal: AbortSignal.timeout(TIMEOUT_MS) },
  );
  if (sent?.outcome === "later") throw new Error(`The answer was not taken: ${sent.reason}`);
}
