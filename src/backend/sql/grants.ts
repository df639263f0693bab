// Grants in SQL.
import type { GrantHolder, GrantStore, StoredGrant } from "../grant-store.ts";
import type { Row, SqlDriver } from "../sql-driver.ts";
import { attemptBatch } from "./attempt-batch.ts";
import * as rows from "./rows.ts";

const COLUMNS =
  "grant_id, agent_id, user_id, audience_id, role, workspace_id, granted_by_user_id, granted_at, metadata";

export function createGrantStore(driver: SqlDriver): GrantStore {
  async function byKey(key: string): Promise<Row | undefined> {
    const [row] = await driver.all(`select ${COLUMNS} from grants where grant_key = $1`, [key]);
    return row;
  }

  return {
    async grant(given) {
      const { agent_id, user_id, audience_id, role, workspace_id, granted_by_user_id, metadata } = given;
      const key = keyOf(agent_id, holderOf(given), workspace_id);
      const insert = {
        sql: `insert into grants (grant_key, agent_id, user_id, audience_id, role, workspace_id, granted_by_user_id,
            metadata, granted_at)
          values ($1, $2, $3, $4, $5, $6, $7, $8, now_us())
          on conflict (grant_key) do update set audience_id = excluded.audience_id, role = excluded.role,
            granted_by_user_id = excluded.granted_by_user_id, metadata = excluded.metadata, granted_at = now_us()`,
        params: [key, agent_id, user_id, audience_id, role, workspace_id, granted_by_user_id, metadata],
      };
      const read = { sql: `select ${COLUMNS} from grants where grant_key = $1`, params: [key] };
      const made = await attemptBatch(driver, [insert, read]);
      const row = made.outcome === "committed" ? made.rows[1]?.[0] : undefined;
      if (!row) throw new Error("The grant was not stored.");
      return grant(row);
    },

    async revoke(agentId, holder, workspaceId) {
      const key = keyOf(agentId, holder, workspaceId);
      if (!(await byKey(key))) return false;
      await attemptBatch(driver, [{ sql: "delete from grants where grant_key = $1", params: [key] }]);
      return true;
    },

    async get(agentId, holder, workspaceId) {
      const row = await byKey(keyOf(agentId, holder, workspaceId));
      return row && grant(row);
    },

    async ofAgent(agentId) {
      const sql = `select ${COLUMNS} from grants where agent_id = $1 order by grant_id`;
      return (await driver.all(sql, [agentId])).map(grant);
    },

    async ofHolder(holder) {
      const [condition, value] =
        "user_id" in holder
          ? (["user_id = $1 and user_id > 0", holder.user_id] as const)
          : (["audience_id = $1 and user_id = 0", holder.audience_id] as const);
      const sql = `select ${COLUMNS} from grants where ${condition} order by grant_id`;
      return (await driver.all(sql, [value])).map(grant);
    },
  };
}

function holderOf({ user_id, audience_id }: { user_id: number; audience_id: string | null }): GrantHolder {
  return user_id > 0 ? { user_id } : { audience_id: audience_id ?? "" };
}

// As a JSON list, because no separator is safe in ids that may hold any text.
function keyOf(agentId: string, holder: GrantHolder, workspaceId: string | null): string {
  const [kind, id] = "user_id" in holder ? ["user", holder.user_id] : ["audience", holder.audience_id];
  return JSON.stringify([agentId, kind, id, workspaceId]);
}

function grant(row: Row): StoredGrant {
  return {
    grant_id: rows.number(row.grant_id),
    agent_id: rows.text(row.agent_id),
    user_id: rows.number(row.user_id),
    audience_id: rows.optionalText(row.audience_id),
    role: rows.text(row.role),
    workspace_id: rows.optionalText(row.workspace_id),
    granted_by_user_id: rows.optionalNumber(row.granted_by_user_id),
    granted_at: rows.number(row.granted_at),
    metadata: rows.text(row.metadata),
  };
}
