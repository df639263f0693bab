// What waits for programs elsewhere to fetch it. An item leaves only when its own client says that it has it: whatever
// became of a push, or of the answer to a poll, it is still there.
import type { BridgeClient } from "../contracts/channels/bridge-client.ts";
import type { BridgeItem } from "../contracts/channels/bridge-item.ts";

export interface BridgeStore {
  /** Registers a client, or replaces what was registered for it. */
  register(client: unknown): Promise<BridgeClient>;
  /** Any spelling of the id will do. */
  client(clientId: string): Promise<BridgeClient | undefined>;
  /**
   * Adds an item to the end, or puts it in the place of the one with its `queue_id`. Throws `bridge_item_foreign` when
   * that belongs to another client.
   */
  enqueue(item: unknown): Promise<BridgeItem>;
  /** The oldest first, 25 unless told otherwise; of some sessions only, if any are named. Nothing is taken away. */
  pending(
    clientId: string,
    query?: { readonly limit?: number; readonly session_ids?: readonly string[] },
  ): Promise<readonly BridgeItem[]>;
  /** Removes items of this client, and nobody else's; how many there were. */
  ack(clientId: string, queueIds: readonly string[]): Promise<number>;
}
