// Bridges over the durable queue: what comes in is a message of a thread, and its reply waits in the queue until the client
// says that it has it.

import { sha256 } from "../contracts/canonical-json.ts";
import type { Bridge, BridgeMessage } from "../contracts/channels/bridge.ts";
import { bridgeSlug } from "../contracts/channels/connector-slug.ts";
import * as externalMessage from "../contracts/channels/external-message.ts";
import { holdfastError } from "../contracts/error.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { Host } from "../threads/host.ts";
import type { InboundMessage } from "./channel.ts";
import { leaveMessage, type Place } from "./leave-message.ts";
import type { Route, RouteName } from "./route.ts";

const PROVIDER = "bridge";

export function createBridge(host: Host): Bridge {
  const { bridge: store } = host.stores;

  /** The conversation that goes on: by the name that it has at the other end, or by its session. */
  async function placeOf({ agent, session_id, conversation_id }: BridgeMessage, connector: string): Promise<Place> {
    if (session_id === undefined) {
      if (conversation_id === undefined)
        throw holdfastError("invalid_input", "conversation_id or session_id is needed.");
      return { conversation: { connector, agent, id: conversation_id } };
    }
    const subject = await host.stores.subjects.get(session_id);
    const isOwn = subject?.owner_type === "channel" && subject.owner_key?.startsWith(`${connector}:`);
    if (!isOwn) throw holdfastError("session_not_found", `There is no session "${session_id}" of this client.`);
    return { thread_id: session_id };
  }

  return {
    register: (client) => store.register(client),
    client: (clientId) => store.client(clientId),
    pending: (clientId, query) => store.pending(clientId, query),
    ack: (clientId, queueIds) => store.ack(clientId, queueIds),
    async send(given) {
      const client_id = bridgeSlug(given.client_id);
      // No channel can have this name, so none shares its conversations.
      const connector = `bridge:${client_id}`;
      const { message: text, message_id, connector_id, conversation_id = null } = given;
      const message: InboundMessage = {
        ...{ text, message_id, conversation_id: conversation_id ?? given.session_id ?? null },
        ...{ sender_id: given.sender_id ?? null, room_kind: given.room_kind ?? null },
        ...(given.attachments && { attachments: given.attachments }),
      };
      const { outcome, thread_id } = await leaveMessage(host, {
        place: await placeOf(given, connector),
        provider: PROVIDER,
        ...{ message, client_context: contextOf(message, connector_id ?? slugOf(client_id)) },
        route: { kind: "bridge", client_id, connector_id },
      });
      return { status: outcome === "stored" ? "accepted" : "duplicate", session_id: thread_id, message_id };
    },
  };
}

function slugOf(clientId: string): string {
  return `bridge-${clientId}`;
}

function contextOf(message: InboundMessage, connector_id: string): JsonMap {
  const { text, message_id, conversation_id, sender_id, room_kind } = message;
  const external = { external_conversation_id: conversation_id, external_message_id: message_id, sender_id, room_kind };
  return externalMessage.clientContext({ text, connector_id, external_provider: PROVIDER, ...external }, "bridge");
}

/** Replies of a bridge are put into its queue; the id follows from the run, so that putting one twice is putting it once. */
export function bridgeRoute(host: Host, name: Extract<RouteName, { kind: "bridge" }>, agent: string): Route {
  const { client_id, connector_id } = name;
  return {
    ...{ agent, provider: PROVIDER, client_name: connector_id ?? slugOf(client_id) },
    waitingText: null,
    giveUpAfterMs: Number.POSITIVE_INFINITY,
    async send({ text, kind, thread_id, idempotency_key, in_reply_to, conversation_id }) {
      await host.stores.bridge.enqueue({
        queue_id: `bridge_${sha256(idempotency_key).slice(0, 32)}`,
        ...{ client_id, connector_id, agent, session_id: thread_id, content: text },
        role: kind === "reply" ? "assistant" : "system",
        metadata: { in_reply_to, conversation_id, kind },
      });
    },
  };
}
