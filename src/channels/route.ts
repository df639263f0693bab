// The way back to where a message came from, as a delivery finds it: a channel of this process, or the queue of a bridge.
import type { JsonMap } from "../contracts/json.ts";
import type { Channel, InboundMessage } from "./channel.ts";

/** How a stored delivery names its route. */
export type RouteName =
  | { readonly kind: "channel"; readonly name: string }
  | { readonly kind: "bridge"; readonly client_id: string; readonly connector_id: string | null };

export type Route = Pick<Channel, "agent" | "provider" | "waitingText" | "giveUpAfterMs"> &
  Pick<Channel, "onProcessingEnd" | "onComplete" | "send"> & {
    /** The name that a chat is told. */
    readonly client_name: string;
  };

/** What is kept of a message until its answer was sent. */
export type KeptMessage = Omit<InboundMessage, "attachments">;

/** A reply that is owed: it is stored with the message itself, and goes when the reply was sent. */
export type Delivery = {
  readonly route: RouteName;
  /** What the message is in the inbox of its thread. */
  readonly entry_id: string;
  readonly message: KeptMessage;
  /** Milliseconds since 1970. */
  readonly received_at: number;
  /** Attempts to send that failed, and since when. */
  readonly failures: number;
  readonly failing_since: number | null;
};

export function asArguments(delivery: Delivery): JsonMap {
  return JSON.parse(JSON.stringify(delivery)) as JsonMap;
}
