// The table of first outcomes: what a write that came with a key came to, for whoever repeats it.
import type { MigrationStatement } from "./migration.ts";

export const outcomes: readonly MigrationStatement[] = [
  // The lease is that of whoever is at work on it; the claim tells them from whoever takes over. An outcome is sealed,
  // because it may hold what is shown once and never again.
  `create table outcomes (
    caller text not null,
    operation text not null,
    idempotency_key text not null,
    payload_hash text not null,
    claim_id text not null,
    lease_until bigint not null,
    sealed text,
    expires_at bigint not null,
    primary key (caller, operation, idempotency_key)
  )`,
  "create index outcomes_expiring on outcomes (expires_at)",
];
