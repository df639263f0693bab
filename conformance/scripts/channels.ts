// The steps of the sequences over channels and bridges, against the product's own stores.
import { storageKey as messageKey } from "../../src/contracts/channels/inbound-message.ts";
import { advance, type Calls, inPlace, play } from "./sessions.ts";

export function runSessionMap({ calls }: Calls) {
  return play(calls, async ({ do: verb, with: given }, { channels }) => {
    switch (verb) {
      case "get":
        return channels.session(given);
      case "set":
        return channels.setSession(given, given.session_id);
      case "delete":
        return channels.deleteSession(given);
      default:
        throw new Error(`Nobody knows how to ${verb}.`);
    }
  });
}

export function runIdempotency({ calls }: Calls) {
  return play(calls, async ({ do: verb, with: given }, { channels }, clock) => {
    const { provider, message_id } = given;
    switch (verb) {
      case "seen":
        return channels.seen(provider, message_id);
      case "mark_seen":
        return channels.markSeen(provider, message_id, given.ttl);
      case "forget":
        return channels.forget(provider, message_id);
      case "advance":
        return advance(clock, given.seconds);
      case "key":
        return messageKey(provider, message_id);
      default:
        throw new Error(`Nobody knows how to ${verb}.`);
    }
  });
}

export function runBridge({ calls }: Calls) {
  return play(calls, async ({ do: verb, with: given }, { bridge }) => {
    switch (verb) {
      case "register":
        return bridge.register(given);
      case "get_client":
        return bridge.client(given.client_id);
      case "enqueue":
        return inPlace(() => bridge.enqueue(given), "another client");
      case "pending": {
        const items = await bridge.pending(given.client_id, given);
        return given.full ? items : items.map(({ queue_id }) => queue_id);
      }
      case "ack":
        return bridge.ack(given.client_id, given.queue_ids);
      default:
        throw new Error(`Nobody knows how to ${verb}.`);
    }
  });
}
