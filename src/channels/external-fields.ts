// A message of a channel in the fields that all channels share.
import type { JsonMap } from "../contracts/json.ts";
import type { InboundMessage } from "./channel.ts";

export function externalFields(
  message: InboundMessage,
  { client_name, provider }: { readonly client_name: string; readonly provider: string },
): JsonMap {
  return {
    text: message.text,
    connector_id: client_name,
    external_provider: provider,
    external_message_id: message.message_id,
    external_conversation_id: message.conversation_id ?? null,
    sender_id: message.sender_id ?? null,
    room_kind: message.room_kind ?? null,
    attachments: message.attachments ?? [],
  };
}
