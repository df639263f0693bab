// A program elsewhere that fetches what agents say to the people it serves. Its registration is no credential: who it is
// has to be proved at the door.
import { identifier, scalarText } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { asMap, emptyMap, type JsonMap, seal, snapshotMap } from "../json.ts";
import { bridgeSlug } from "./connector-slug.ts";

export type BridgeClient = {
  readonly client_id: string;
  readonly connector_id: string | null;
  /** Where it wants to be told that something waits. */
  readonly callback_url: string | null;
  readonly context: JsonMap;
  readonly registered_at: string;
};

/** A frozen registration; throws `invalid_agent_bridge_client` with the first field that is wrong. */
export function fromArray(value: unknown, now: Date = new Date()): BridgeClient {
  const given = asMap(value) ?? emptyMap;
  const client_id = bridgeSlug(given.client_id);
  if (client_id === "") throw invalid("client_id must be a non-empty slug");
  return seal({
    client_id,
    connector_id: bridgeSlug(given.connector_id) || null,
    callback_url: callbackUrl(given.callback_url),
    context: snapshotMap(given.context),
    registered_at: scalarText(given.registered_at) || now.toISOString(),
  });
}

// Any scheme, because not every bridge is called over the web; but the name of a place has to be in it.
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]\S*$/i;

function callbackUrl(value: unknown): string | null {
  const url = identifier(value);
  if (url === undefined) return null;
  if (!ABSOLUTE.test(url) || !URL.canParse(url)) throw invalid("callback_url must be an absolute URL");
  return url;
}

function invalid(detail: string) {
  return holdfastError("invalid_agent_bridge_client", detail);
}
