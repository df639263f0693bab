// Remembered approvals in SQL.
import type { ActionPolicy } from "../../contracts/tools/action-policy.ts";
import type {
  ApprovalMemoryStore,
  RememberedApproval,
  RememberedKey,
  StoredApproval,
} from "../approval-memory-store.ts";
import type { Row, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch } from "./attempt-batch.ts";
import * as rows from "./rows.ts";

const KEY = ["workspace_type", "workspace_id", "user_id", "agent_id", "tool_name"] as const;
const COLUMNS = `${KEY.join(", ")}, policy, policy_version, request_id, decided_by, mac, created_at`;
const IS_KEY = KEY.map((column, index) => `${column} = $${index + 1}`).join(" and ");

export function createApprovalMemoryStore(driver: SqlDriver): ApprovalMemoryStore {
  async function recall(key: RememberedKey): Promise<StoredApproval | undefined> {
    const [row] = await driver.all(`select ${COLUMNS} from approval_memory where ${IS_KEY}`, valuesOf(key));
    return row && approval(row);
  }

  return {
    recall,

    async remember(approval) {
      await attemptBatch(driver, [rememberStatement(approval)]);
    },

    async forget(key) {
      if (!(await recall(key))) return false;
      await attemptBatch(driver, [{ sql: `delete from approval_memory where ${IS_KEY}`, params: valuesOf(key) }]);
      return true;
    },

    async list(filter) {
      const params: Scalar[] = [];
      const conditions = KEY.flatMap((column) => {
        const value = filter[column];
        return value === undefined ? [] : [`${column} = $${params.push(value)}`];
      });
      const sql = `select ${COLUMNS} from approval_memory where ${["1 = 1", ...conditions].join(" and ")}
        order by created_at desc, ${KEY.join(", ")}`;
      return (await driver.all(sql, params)).map(approval);
    },
  };
}

/** Remembers a decision, for the batch that makes it: either both are stored or neither is. */
export function rememberStatement(approval: RememberedApproval): Statement {
  const sql = `insert into approval_memory (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now_us())
    on conflict (${KEY.join(", ")}) do update set policy = excluded.policy,
      policy_version = excluded.policy_version, request_id = excluded.request_id,
      decided_by = excluded.decided_by, mac = excluded.mac, created_at = excluded.created_at`;
  const { policy, policy_version, request_id, decided_by, mac } = approval;
  return { sql, params: [...valuesOf(approval), policy, policy_version, request_id, decided_by, mac] };
}

function valuesOf(key: RememberedKey): readonly Scalar[] {
  return KEY.map((column) => key[column]);
}

function approval(row: Row): StoredApproval {
  return {
    workspace_type: rows.text(row.workspace_type),
    workspace_id: rows.text(row.workspace_id),
    user_id: rows.number(row.user_id),
    agent_id: rows.text(row.agent_id),
    tool_name: rows.text(row.tool_name),
    policy: row.policy as ActionPolicy,
    policy_version: rows.optionalText(row.policy_version),
    request_id: rows.optionalText(row.request_id),
    decided_by: rows.optionalText(row.decided_by),
    mac: rows.text(row.mac),
    created_at: rows.number(row.created_at),
  };
}
