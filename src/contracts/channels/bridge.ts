// A bridge: a program elsewhere that brings what people say and fetches what agents answer, instead of being called.
import type { Json } from "../json.ts";
import type { BridgeClient } from "./bridge-client.ts";
import type { BridgeItem } from "./bridge-item.ts";

/** What somebody behind a bridge has said. */
export type BridgeMessage = {
  readonly client_id: string;
  readonly connector_id: string | null;
  readonly agent: string;
  readonly message: string;
  /** Names the message: the same one is never answered twice. */
  readonly message_id: string;
  /** The conversation at the other end, or the session that goes on; one of them. */
  readonly conversation_id?: string;
  readonly session_id?: string;
  readonly sender_id?: string;
  readonly room_kind?: "dm" | "group" | "channel";
  readonly attachments?: readonly Json[];
};

export type BridgeReceipt = {
  readonly status: "accepted" | "duplicate";
  /** Where the conversation goes on; the answer will wait under it. */
  readonly session_id: string;
  readonly message_id: string;
};

/** Who may use which client is decided before: nobody who holds this is asked who he is. */
export interface Bridge {
  /** Registers a client, or replaces what was registered for it. */
  register(client: unknown): Promise<BridgeClient>;
  /** Any spelling of the id will do. */
  client(clientId: string): Promise<BridgeClient | undefined>;
  /** Stores a message; its answer is queued when there is one. Throws `session_not_found` for a session of somebody else. */
  send(message: BridgeMessage): Promise<BridgeReceipt>;
  /** The oldest first, 25 unless told otherwise. Nothing is taken away. */
  pending(
    clientId: string,
    query?: { readonly limit?: number; readonly session_ids?: readonly string[] },
  ): Promise<readonly BridgeItem[]>;
  /** Removes items of this client, and nobody else's; how many there were. */
  ack(clientId: string, queueIds: readonly string[]): Promise<number>;
}
