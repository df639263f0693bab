// The instances of agents in SQL.
import { type Identity, materialized } from "../../contracts/agents/identity.ts";
import { normalize } from "../../contracts/agents/identity-scope.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import type { GivenScope, IdentityStore } from "../identity-store.ts";
import type { Row, Scalar, SqlDriver } from "../sql-driver.ts";
import { attemptBatch } from "./attempt-batch.ts";
import * as rows from "./rows.ts";

const IDENTITY = "id, agent_slug, owner_user_id, instance_key, config, meta, created_at, updated_at";
const IN_SCOPE = "agent_slug = $1 and owner_user_id = $2 and instance_key = $3";

export function createIdentityStore(driver: SqlDriver): IdentityStore {
  async function one(condition: string, params: readonly Scalar[]): Promise<Identity | undefined> {
    const [row] = await driver.all(`select ${IDENTITY} from identities where ${condition}`, params);
    return row && identity(row);
  }

  return {
    resolve: async (scope) => one(IN_SCOPE, scopeParams(scope)),

    get: async (id) => (Number.isSafeInteger(id) ? one("id = $1", [id]) : undefined),

    async materialize(scope, { config, meta } = {}) {
      const params = scopeParams(scope);
      // Looked for first, because every attempt to insert takes a number.
      const sql = `insert into identities (agent_slug, owner_user_id, instance_key, config, meta, created_at, updated_at)
        select $1, $2, $3, $4, $5, now_us(), now_us() where not exists (select 1 from identities where ${IN_SCOPE})
        on conflict (agent_slug, owner_user_id, instance_key) do nothing`;
      for (;;) {
        const known = await one(IN_SCOPE, params);
        // Made by whoever was first; gone again when somebody deletes it meanwhile.
        if (known) return known;
        await attemptBatch(driver, [{ sql, params: [...params, json(config), json(meta)] }]);
      }
    },

    async update({ id, config, meta }) {
      const sql = "update identities set config = $2, meta = $3, updated_at = now_us() where id = $1";
      await attemptBatch(driver, [{ sql, params: [id, json(config), json(meta)] }]);
      return one("id = $1", [id]);
    },

    async delete(scope) {
      await attemptBatch(driver, [{ sql: `delete from identities where ${IN_SCOPE}`, params: scopeParams(scope) }]);
      return true;
    },
  };
}

function scopeParams(scope: GivenScope): readonly Scalar[] {
  const { agent_slug, owner_user_id, instance_key } = normalize(scope);
  return [agent_slug, owner_user_id, instance_key];
}

function json(value: JsonMap | undefined): string {
  return JSON.stringify(snapshotMap(value));
}

function identity({ id, config, meta, created_at, updated_at, ...scope }: Row): Identity {
  return materialized({
    id,
    scope,
    config: JSON.parse(rows.text(config)),
    meta: JSON.parse(rows.text(meta)),
    created_at: Math.floor(rows.number(created_at) / 1_000_000),
    updated_at: Math.floor(rows.number(updated_at) / 1_000_000),
  });
}
