// An instance of an agent that was set up for good: a number, and what was configured for it.
import { holdfastError } from "../error.ts";
import { asMap, emptyMap, type JsonMap, seal, snapshotMap } from "../json.ts";
import { userId } from "../trust/user-id.ts";
import { type IdentityScope, normalize as normalizeScope } from "./identity-scope.ts";

export type Identity = IdentityScope & {
  /** From 1. */
  readonly id: number;
  readonly config: JsonMap;
  readonly meta: JsonMap;
  /** Unix seconds. */
  readonly created_at: number | null;
  readonly updated_at: number | null;
};

/**
 * A frozen identity with the one spelling of its scope. Throws `invalid_agent_identity` for an id below 1, and
 * `invalid_agent_identity_scope` for a scope that is none.
 */
export function materialized(value: unknown): Identity {
  const given = asMap(value) ?? emptyMap;
  const id = userId(given.id);
  if (id < 1) throw holdfastError("invalid_agent_identity", "id must be a positive number");
  return seal({
    id,
    ...normalizeScope(given.scope),
    config: snapshotMap(given.config),
    meta: snapshotMap(given.meta),
    created_at: time(given.created_at),
    updated_at: time(given.updated_at),
  });
}

/** The same identity with another configuration; nothing of the old one is kept. */
export function withConfig(identity: Identity, config: unknown): Identity {
  return seal({ ...identity, config: snapshotMap(config) });
}

/** The same identity with other notes about it; nothing of the old ones is kept. */
export function withMeta(identity: Identity, meta: unknown): Identity {
  return seal({ ...identity, meta: snapshotMap(meta) });
}

function time(value: unknown): number | null {
  return value == null ? null : userId(value);
}
