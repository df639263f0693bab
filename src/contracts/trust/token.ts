// What is kept about a bearer token of an agent: whose it is, what it may do and until when. Of the token itself only the
// hash is kept, and that is never shown.
import * as crypto from "node:crypto";
import { trim } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { type JsonMap, seal } from "../json.ts";
import * as capabilityCeiling from "./capability-ceiling.ts";
import { allowList } from "./capability-names.ts";
import { mapField, optionalText, readFields, textField } from "./record-fields.ts";
import { userId } from "./user-id.ts";

/** What may be shown of a token. */
export type TokenMetadata = {
  readonly token_id: number;
  readonly agent_id: string;
  /** The user whose rights are the most that the token can have. */
  readonly owner_user_id: number;
  /** The token's beginning, by which people tell tokens apart. */
  readonly token_prefix: string;
  readonly label: string;
  /** Null allows whatever the owner may, an empty list nothing. */
  readonly allowed_capabilities: readonly string[] | null;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly created_at: string | null;
  readonly client_id: string | null;
  readonly workspace_id: string | null;
  readonly metadata: JsonMap;
};

/** What a store keeps of a token. */
export type Token = TokenMetadata & { readonly token_hash: string };

/** The SHA-256 of a token as it is, in lower-case hexadecimal digits. */
export function hash(rawToken: string): string {
  return crypto.hash("sha256", rawToken);
}

/** A frozen record with all its fields. Throws `invalid_wp_agent_token` with the first field that is wrong. */
export function fromArray(value: unknown): Token {
  const given = readFields(value, invalid);
  const token_id = userId(given.token_id);
  if (token_id <= 0) throw invalid("token_id must be positive");
  const agent_id = textField(given.agent_id);
  if (trim(agent_id) === "") throw invalid("agent_id must not be blank");
  const owner_user_id = userId(given.owner_user_id);
  if (owner_user_id <= 0) throw invalid("owner_user_id must be positive");
  const token_hash = textField(given.token_hash);
  if (!/^[0-9a-f]{64}$/i.test(token_hash)) throw invalid("token_hash must be 64 hexadecimal digits");
  const token_prefix = textField(given.token_prefix);
  if (trim(token_prefix) === "") throw invalid("token_prefix must not be blank");
  return seal({
    token_id,
    agent_id,
    owner_user_id,
    // As `hash` writes it, because tokens are looked up by that.
    token_hash: token_hash.toLowerCase(),
    token_prefix,
    label: textField(given.label),
    allowed_capabilities: allowList(given.allowed_capabilities, "allowed_capabilities", invalid),
    expires_at: optionalText(given.expires_at),
    last_used_at: optionalText(given.last_used_at),
    created_at: optionalText(given.created_at),
    client_id: optionalText(given.client_id),
    workspace_id: optionalText(given.workspace_id),
    metadata: mapField(given, "metadata", invalid),
  });
}

/** The token without its hash. */
export function toMetadata({ token_hash, ...shown }: Token): TokenMetadata {
  return seal(shown);
}

/**
 * True from its last second on, the times being Unix seconds. Without a time it never expires; with one that cannot be
 * read it has, because nobody can tell that it has not.
 */
export function isExpired({ expires_at }: Pick<Token, "expires_at">, now: number): boolean {
  if (expires_at === null || expires_at === "") return false;
  const expiry = secondsOf(expires_at);
  return !(expiry > now);
}

/** The most that whoever holds the token may do. */
export function capabilityCeilingOf(token: TokenMetadata): capabilityCeiling.CapabilityCeiling {
  const { owner_user_id, allowed_capabilities, token_id, client_id, workspace_id } = token;
  return capabilityCeiling.fromArray({
    user_id: owner_user_id,
    allowed_capabilities,
    metadata: { token_id, client_id, workspace_id },
  });
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)? ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?$/i;

/** The second that a time lies in, or NaN. A time that names no zone is UTC, wherever this runs. */
function secondsOf(time: string): number {
  const [, day, clock = "00:00", zone = "Z"] = TIME.exec(trim(time)) ?? [];
  if (day === undefined) return Number.NaN;
  const offset = /^[+-]/.test(zone) ? zone.replace(/^(...):?(..)$/, "$1:$2") : "Z";
  return Date.parse(`${day}T${clock}${offset}`) / 1000;
}

function invalid(detail: string, cause?: unknown) {
  return holdfastError("invalid_wp_agent_token", detail, cause);
}
