// What an agent says to somebody behind a bridge, as it waits there to be fetched.
import { identifier, scalarText, truthy } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { asMap, emptyMap, type JsonMap, seal, snapshotMap } from "../json.ts";
import { bridgeSlug } from "./connector-slug.ts";

// What a user says comes in, it never goes out.
const roles = ["assistant", "system", "tool"] as const satisfies readonly string[];

const deliveryStatuses = ["pending", "delivered", "failed"] as const satisfies readonly string[];

export type BridgeItem = {
  readonly queue_id: string;
  readonly client_id: string;
  readonly connector_id: string | null;
  readonly agent: string;
  readonly session_id: string | null;
  readonly role: (typeof roles)[number];
  readonly content: string;
  /** False for a part of an answer that goes on. */
  readonly completed: boolean;
  readonly created_at: string;
  /** How a push went. Whatever it says, the item waits until it is acknowledged. */
  readonly delivery_status: (typeof deliveryStatuses)[number];
  readonly metadata: JsonMap;
};

/** A frozen item; throws `invalid_agent_bridge_queue_item` with the first field that is wrong. */
export function fromArray(value: unknown, now: Date = new Date()): BridgeItem {
  const given = asMap(value) ?? emptyMap;
  return seal({
    queue_id: queueId(given.queue_id),
    client_id: required(bridgeSlug(given.client_id), "client_id"),
    connector_id: bridgeSlug(given.connector_id) || null,
    agent: required(bridgeSlug(given.agent), "agent"),
    session_id: identifier(given.session_id) ?? null,
    role: oneOf(roles, given.role, "role"),
    content: required(identifier(given.content), "content"),
    completed: given.completed == null || truthy(given.completed),
    created_at: scalarText(given.created_at) || now.toISOString(),
    delivery_status: oneOf(deliveryStatuses, given.delivery_status, "delivery_status"),
    metadata: snapshotMap(given.metadata),
  });
}

function queueId(value: unknown): string {
  if (value == null) return `bridge_${crypto.randomUUID().replaceAll("-", "")}`;
  return required(identifier(value), "queue_id");
}

function required(text: string | undefined, field: string): string {
  if (!text) throw invalid(`${field} must be a non-empty string`);
  return text;
}

/** The first of the words unless another one is given. */
function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
  value: unknown,
  field: string,
): Words[number] {
  if (value == null) return words[0];
  const given = bridgeSlug(value);
  const word = words.find((each) => each === given);
  if (word === undefined) throw invalid(`${field} must be one of ${words.join(", ")}`);
  return word;
}

function invalid(detail: string) {
  return holdfastError("invalid_agent_bridge_queue_item", detail);
}
