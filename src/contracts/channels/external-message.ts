// A message that came in through a channel, in the one form that all channels bring it to.
import { identifier, scalarText, trim, truthy } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { asMap, emptyMap, isContainer, type Json, type JsonMap, seal, snapshot, snapshotMap } from "../json.ts";
import { foldConnector } from "./connector-slug.ts";

const roomKinds = ["dm", "group", "channel"] as const satisfies readonly string[];

type RoomKind = (typeof roomKinds)[number];

export type ExternalMessage = {
  /** May be empty: some messages are only attachments. */
  readonly text: string;
  /** The connection that a host has set up. */
  readonly connector_id: string;
  /** The service behind it. */
  readonly external_provider: string;
  readonly external_conversation_id: string | null;
  readonly external_message_id: string | null;
  readonly sender_id: string | null;
  /** True for what the agent itself has sent: services tell everybody in a room. */
  readonly from_self: boolean;
  readonly room_kind: RoomKind | null;
  readonly attachments: readonly Json[];
  /** As the service sent it. */
  readonly raw: JsonMap;
};

/** What a chat is told about where a message came from. */
export type ChannelClientContext = {
  readonly source: string;
  readonly connector_id: string;
  readonly client_name: string;
  readonly external_provider: string;
  readonly external_conversation_id: string | null;
  readonly external_message_id: string | null;
  readonly sender_id: string | null;
  readonly room_kind: RoomKind | null;
};

/** A frozen message; throws `invalid_agent_external_message` with the first field that is wrong. */
export function normalize(value: unknown): ExternalMessage {
  const given = asMap(value) ?? emptyMap;
  return seal({
    text: trim(scalarText(given.text) ?? ""),
    connector_id: slug(given.connector_id, "connector_id"),
    external_provider: slug(given.external_provider, "external_provider"),
    external_conversation_id: identifier(given.external_conversation_id) ?? null,
    external_message_id: identifier(given.external_message_id) ?? null,
    sender_id: identifier(given.sender_id) ?? null,
    from_self: truthy(given.from_self),
    room_kind: roomKind(given.room_kind),
    attachments: listOf(given.attachments),
    raw: snapshotMap(given.raw),
  });
}

/** Where a message came from; `source` is the kind of client that brought it. Throws as `normalize` does. */
export function clientContext(message: unknown, source = "channel"): ChannelClientContext {
  const { connector_id, external_provider, external_conversation_id, external_message_id, sender_id, room_kind } =
    normalize(message);
  const place = { external_provider, external_conversation_id, external_message_id, sender_id, room_kind };
  return seal({ source, connector_id, client_name: connector_id, ...place });
}

function slug(value: unknown, field: string): string {
  const folded = foldConnector(value);
  if (!/^[a-z0-9][a-z0-9-]*$/.test(folded)) throw invalid(`${field} must be a non-empty slug`);
  return folded;
}

function roomKind(value: unknown): RoomKind | null {
  const given = identifier(value);
  if (given === undefined) return null;
  const kind = roomKinds.find((each) => each === given);
  if (kind === undefined) throw invalid(`room_kind must be one of ${roomKinds.join(", ")}`);
  return kind;
}

// Some services number their attachments with names; the names say nothing.
function listOf(value: unknown): readonly Json[] {
  return snapshot(isContainer(value) ? Object.values(value) : []) as readonly Json[];
}

function invalid(detail: string) {
  return holdfastError("invalid_agent_external_message", detail);
}
