// First outcomes in SQL.
import type { OutcomeClaim, OutcomeKey, OutcomeStore } from "../outcome-store.ts";
import type { Scalar, SqlDriver } from "../sql-driver.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import * as rows from "./rows.ts";

const IS_KEY = "caller = $1 and operation = $2 and idempotency_key = $3";

export function createOutcomeStore(driver: SqlDriver): OutcomeStore {
  return {
    async begin(write) {
      const { payload_hash, claim_id, lease_us, keep_us } = write;
      // One that is over, or that nobody is at work on any more, is begun anew; the latter only for the same payload.
      const begin = `insert into outcomes (caller, operation, idempotency_key, payload_hash, claim_id, lease_until, sealed,
          expires_at)
        values ($1, $2, $3, $4, $5, now_us() + cast($6 as bigint), null, now_us() + cast($7 as bigint))
        on conflict (caller, operation, idempotency_key) do update set payload_hash = excluded.payload_hash,
          claim_id = excluded.claim_id, lease_until = excluded.lease_until, sealed = null,
          expires_at = excluded.expires_at
        where outcomes.lease_until <= now_us() and (outcomes.expires_at <= now_us()
          or (outcomes.sealed is null and outcomes.payload_hash = excluded.payload_hash))`;
      const look = `select payload_hash, claim_id, sealed from outcomes where ${IS_KEY}`;
      const begun = await attemptBatch(driver, [
        { sql: begin, params: [...valuesOf(write), payload_hash, claim_id, lease_us, keep_us] },
        { sql: look, params: valuesOf(write) },
      ]);
      const found = begun.outcome === "committed" ? begun.rows[1]?.[0] : undefined;
      if (!found) throw new Error("What was begun is not there.");
      if (found.payload_hash !== payload_hash) return { outcome: "conflicting" };
      if (found.sealed !== null) return { outcome: "known", sealed: rows.text(found.sealed) };
      return { outcome: found.claim_id === claim_id ? "begun" : "under_way" };
    },

    async find(key) {
      const sql = `select sealed, case when lease_until > now_us() then 1 else 0 end as leased from outcomes where ${IS_KEY}`;
      const [row] = await driver.all(sql, valuesOf(key));
      if (!row) return "never_begun";
      if (row.sealed !== null) return "known";
      return rows.number(row.leased) === 1 ? "under_way" : "lost";
    },

    async prolong(claim, leaseMicroseconds) {
      const sql = `update outcomes set lease_until = now_us() + cast($5 as bigint)
        where ${IS_KEY} and claim_id = $4 and sealed is null`;
      const params = [...valuesOf(claim), claim.claim_id, leaseMicroseconds];
      const { outcome } = await attemptBatch(driver, [{ sql, params, expect: 1 }]);
      return outcome === "committed";
    },

    async settle(claim, sealed, keepMicroseconds) {
      const sql = `update outcomes set sealed = $5, lease_until = 0, expires_at = now_us() + cast($6 as bigint)
        where ${IS_KEY} and claim_id = $4 and sealed is null`;
      const params = [...valuesOf(claim), claim.claim_id, sealed, keepMicroseconds];
      const settled = async () => ((await sealedBy(claim)) === sealed ? COMMITTED : undefined);
      const { outcome } = await attemptBatch(driver, [{ sql, params, expect: 1 }], settled);
      return outcome === "committed";
    },

    async abandon(claim) {
      const sql = `delete from outcomes where ${IS_KEY} and claim_id = $4 and sealed is null`;
      await attemptBatch(driver, [{ sql, params: [...valuesOf(claim), claim.claim_id] }]);
    },

    async free() {
      await attemptBatch(driver, [{ sql: "update outcomes set lease_until = 0 where lease_until > 0", params: [] }]);
    },

    async expire() {
      const sql = "delete from outcomes where expires_at <= now_us() and lease_until <= now_us()";
      await attemptBatch(driver, [{ sql, params: [] }]);
    },
  };

  async function sealedBy(claim: OutcomeClaim): Promise<Scalar | undefined> {
    const sql = `select sealed from outcomes where ${IS_KEY} and claim_id = $4`;
    const [row] = await driver.all(sql, [...valuesOf(claim), claim.claim_id]);
    return row?.sealed;
  }
}

function valuesOf({ caller, operation, idempotency_key }: OutcomeKey): readonly Scalar[] {
  return [caller, operation, idempotency_key];
}
