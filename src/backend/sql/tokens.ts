// Tokens in SQL.
import type { Row, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import type { StoredToken, TokenStore } from "../token-store.ts";
import { attemptBatch } from "./attempt-batch.ts";
import * as rows from "./rows.ts";

const GIVEN = `agent_id, owner_user_id, token_hash, token_prefix, label, allowed_capabilities, expires_at, client_id,
  workspace_id, metadata, by_grant`;
const COLUMNS = `token_id, ${GIVEN}, created_at, last_used_at, revoked_at`;
/** Every request asks it. */
const FIND = `select ${COLUMNS} from tokens where token_hash = $1`;

export function createTokenStore(driver: SqlDriver): TokenStore {
  /** Makes a change and gives the tokens that it concerned, also when it has to be repeated: that changes nothing more. */
  async function change(statement: (change_id: string) => Statement, agentId: string): Promise<readonly Row[]> {
    const change_id = crypto.randomUUID();
    const sql = `select ${COLUMNS} from tokens where agent_id = $1 and change_id = $2`;
    const made = await attemptBatch(driver, [statement(change_id), { sql, params: [agentId, change_id] }]);
    return (made.outcome === "committed" && made.rows[1]) || [];
  }

  return {
    async create(given) {
      const { agent_id, owner_user_id, token_hash, token_prefix, label, allowed_capabilities } = given;
      const { expires_at, client_id, workspace_id, metadata, by_grant } = given;
      const sql = `insert into tokens (${GIVEN}, created_at, change_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now_us(), $12) on conflict do nothing`;
      const params = [
        ...[agent_id, owner_user_id, token_hash, token_prefix, label, allowed_capabilities],
        ...[expires_at, client_id, workspace_id, metadata, by_grant ? 1 : 0],
      ];
      const [row] = await change((change_id) => ({ sql, params: [...params, change_id] }), agent_id);
      if (!row) throw new Error("Another token has this hash.");
      return token(row);
    },

    async find(hash) {
      const [row] = await driver.all(FIND, [hash]);
      return row && token(row);
    },

    // Repeated by the next use, so nobody asks what became of it.
    async touch(tokenId, used_at, idle_us) {
      const sql = `update tokens set last_used_at = $2
        where token_id = $1 and (last_used_at is null or last_used_at < cast($2 as bigint) - cast($3 as bigint))`;
      await driver.batch([{ sql, params: [tokenId, used_at, idle_us] }]);
    },

    async revoke(tokenId, agentId) {
      const sql = `update tokens set revoked_at = now_us(), token_hash = null, change_id = $3
        where token_id = $1 and agent_id = $2 and revoked_at is null`;
      const revoked = await change((change_id) => ({ sql, params: [tokenId, agentId, change_id] }), agentId);
      return revoked.length > 0;
    },

    async revokeAll(agentId) {
      const sql = `update tokens set revoked_at = now_us(), token_hash = null, change_id = $2
        where agent_id = $1 and revoked_at is null`;
      return (await change((change_id) => ({ sql, params: [agentId, change_id] }), agentId)).length;
    },

    async get(tokenId) {
      const [row] = await driver.all(`select ${COLUMNS} from tokens where token_id = $1`, [tokenId]);
      return row && token(row);
    },

    async list(agentId) {
      const sql = `select ${COLUMNS} from tokens where agent_id = $1 order by token_id`;
      return (await driver.all(sql, [agentId])).map(token);
    },

    async page({ revoked, after, limit, ...wanted }) {
      const params: Scalar[] = [after, limit];
      const narrowed = (["agent_id", "owner_user_id", "workspace_id"] as const).flatMap((column) => {
        const value = wanted[column];
        return value === undefined ? [] : [`${column} = $${params.push(value)}`];
      });
      const conditions = ["token_id > $1", ...(revoked ? [] : ["revoked_at is null"]), ...narrowed];
      const sql = `select ${COLUMNS} from tokens where ${conditions.join(" and ")} order by token_id limit $2`;
      return (await driver.all(sql, params)).map(token);
    },

    async exist({ revoked }) {
      const some = `select 1 from tokens ${revoked ? "" : "where token_hash is not null"} limit 1`;
      return (await driver.all(some, [])).length > 0;
    },
  };
}

function token(row: Row): StoredToken {
  return {
    token_id: rows.number(row.token_id),
    agent_id: rows.text(row.agent_id),
    owner_user_id: rows.number(row.owner_user_id),
    token_hash: rows.optionalText(row.token_hash),
    token_prefix: rows.text(row.token_prefix),
    label: rows.text(row.label),
    allowed_capabilities: rows.optionalText(row.allowed_capabilities),
    expires_at: rows.optionalText(row.expires_at),
    client_id: rows.optionalText(row.client_id),
    workspace_id: rows.optionalText(row.workspace_id),
    metadata: rows.text(row.metadata),
    by_grant: rows.number(row.by_grant) === 1,
    created_at: rows.number(row.created_at),
    last_used_at: rows.optionalNumber(row.last_used_at),
    revoked_at: rows.optionalNumber(row.revoked_at),
  };
}
