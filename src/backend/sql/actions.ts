// Pending actions in SQL. A change leaves its id on the rows it concerned, so that a batch can say what it came to, also
// when it has to be repeated because its answer was lost.
import type { PendingActionStatus } from "../../contracts/trust/pending-action.ts";
import type { ActionClaim, ActionQuery, ActionStore, StoredAction } from "../action-store.ts";
import type { Row, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch } from "./attempt-batch.ts";
import * as rows from "./rows.ts";

const COLUMNS = `action_id, stored_at, revision, kind, status, workspace_type, workspace_id, agent, creator, resolver, created_at,
  expires_at, resolved_at, shown, sealed, outcome, claim_id, claim_decision, claimed_by, claimed_at`;

const ORDER = "order by stored_at, action_id";

export function createActionStore(driver: SqlDriver): ActionStore {
  /** Makes a change and gives the actions that it concerned. */
  async function change(statement: (changeId: string) => Statement): Promise<readonly StoredAction[]> {
    const changeId = crypto.randomUUID();
    const sql = `select ${COLUMNS} from pending_actions where change_id = $1 ${ORDER}`;
    const made = await attemptBatch(driver, [statement(changeId), { sql, params: [changeId] }]);
    return made.outcome === "committed" ? (made.rows[1] ?? []).map(action) : [];
  }

  async function changesOne(statement: (changeId: string) => Statement): Promise<boolean> {
    return (await change(statement)).length === 1;
  }

  return {
    put: (given) =>
      changesOne((changeId) => {
        const { created_at, expires_at, resolved_at } = given;
        const values: Readonly<Record<string, Scalar>> = {
          ...{ kind: given.kind, status: given.status, agent: given.agent, creator: given.creator },
          ...{ workspace_type: given.workspace_type, workspace_id: given.workspace_id, resolver: given.resolver },
          ...{ created_at: created_at.text, created_us: created_at.us },
          ...{ expires_at: expires_at?.text ?? null, expires_us: expires_at?.us ?? null },
          ...{ resolved_at: resolved_at?.text ?? null, resolved_us: resolved_at?.us ?? null },
          ...{ shown: given.shown, sealed: given.sealed, outcome: given.outcome, change_id: changeId },
        };
        const columns = Object.keys(values);
        // Repeated after it had happened, it must not count as stored anew.
        const sql = `insert into pending_actions (action_id, revision, stored_at, ${columns.join(", ")})
          values ($1, 1, now_us(), ${columns.map((_, index) => `$${index + 2}`).join(", ")})
          on conflict (action_id) do update set revision = pending_actions.revision + 1,
            ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}
          where pending_actions.status = 'pending' and pending_actions.claim_id is null
            and pending_actions.change_id <> excluded.change_id`;
        return { sql, params: [given.action_id, ...Object.values(values)] };
      }),

    async get(actionId) {
      const [row] = await driver.all(`select ${COLUMNS} from pending_actions where action_id = $1`, [actionId]);
      return row && action(row);
    },

    async list(query, { limit, offset = 0, after } = {}) {
      const { where, params } = conditionsOf(query);
      const behind = after
        ? ` and (stored_at, action_id) > ($${params.push(after.created_at)}, $${params.push(after.id)})`
        : "";
      const page = `limit $${params.push(limit ?? Number.MAX_SAFE_INTEGER)} offset $${params.push(offset)}`;
      const sql = `select ${COLUMNS} from pending_actions where ${where}${behind} ${ORDER} ${page}`;
      return (await driver.all(sql, params)).map(action);
    },

    async count(query) {
      const { where, params } = conditionsOf(query);
      const sql = `select status, kind, count(*) as count from pending_actions where ${where}
        group by status, kind order by min(seq)`;
      const found = await driver.all(sql, params);
      return found.map((row) => ({
        status: row.status as PendingActionStatus,
        kind: rows.text(row.kind),
        count: rows.number(row.count),
      }));
    },

    claim: (actionId, revision, { claim_id, decision, claimed_by, claimed_at }, at_us) =>
      changesOne((changeId) => ({
        sql: `update pending_actions set claim_id = $3, claim_decision = $4, claimed_by = $5, claimed_at = $6,
            change_id = $8
          where action_id = $1 and revision = $2 and status = 'pending' and claim_id is null
            and (expires_us is null or expires_us > $7)`,
        params: [actionId, revision, claim_id, decision, claimed_by, claimed_at, at_us, changeId],
      })),

    release: (actionId, claimId) =>
      changesOne((changeId) => ({
        sql: `update pending_actions set claim_id = null, claim_decision = null, claimed_by = null, claimed_at = null,
            change_id = $3
          where action_id = $1 and claim_id = $2 and status = 'pending'`,
        params: [actionId, claimId, changeId],
      })),

    end: (actionId, claimId, { status, resolver, resolved_at, outcome }) =>
      changesOne((changeId) => ({
        sql: `update pending_actions set status = $3, resolver = $4, resolved_at = $5, resolved_us = $6, outcome = $7,
            sealed = null, claim_id = null, change_id = $8
          where action_id = $1 and coalesce(claim_id, '') = $2 and status = 'pending'`,
        params: [actionId, claimId ?? "", status, resolver, resolved_at.text, resolved_at.us, outcome, changeId],
      })),

    expire: (before) =>
      change((changeId) => ({
        sql: `update pending_actions set status = 'expired', resolver = null, resolved_at = $1, resolved_us = $2,
            outcome = null, sealed = null, change_id = $3
          where status = 'pending' and claim_id is null and expires_us is not null and expires_us <= $2`,
        params: [before.text, before.us, changeId],
      })),
  };
}

const EQUAL = ["status", "kind", "workspace_type", "workspace_id", "agent", "creator", "resolver"] as const;
const RANGES = [
  ["created_from", "created_us >="],
  ["created_to", "created_us <="],
  ["resolved_from", "resolved_us >="],
  ["resolved_to", "resolved_us <="],
] as const;

function conditionsOf(query: ActionQuery): { readonly where: string; readonly params: Scalar[] } {
  const params: Scalar[] = [];
  const conditions = ["1 = 1"];
  for (const field of EQUAL) {
    const value = query[field];
    // Said in so many words, an index on what is pending can be used.
    if (field === "status" && value === "pending") conditions.push("status = 'pending'");
    else if (value !== undefined) conditions.push(`${field} = $${params.push(value)}`);
  }
  for (const [field, condition] of RANGES) {
    const value = query[field];
    if (value !== undefined) conditions.push(`${condition} $${params.push(value)}`);
  }
  return { where: conditions.join(" and "), params };
}

function action(row: Row): StoredAction {
  return {
    action_id: rows.text(row.action_id),
    stored_at: rows.number(row.stored_at),
    revision: rows.number(row.revision),
    kind: rows.text(row.kind),
    status: row.status as PendingActionStatus,
    workspace_type: rows.optionalText(row.workspace_type),
    workspace_id: rows.optionalText(row.workspace_id),
    agent: rows.optionalText(row.agent),
    creator: rows.optionalText(row.creator),
    resolver: rows.optionalText(row.resolver),
    created_at: rows.text(row.created_at),
    expires_at: rows.optionalText(row.expires_at),
    resolved_at: rows.optionalText(row.resolved_at),
    shown: rows.text(row.shown),
    sealed: rows.optionalText(row.sealed),
    outcome: rows.optionalText(row.outcome),
    claim: claimOf(row),
  };
}

function claimOf({ claim_id, claim_decision, claimed_by, claimed_at }: Row): ActionClaim | null {
  if (claim_id == null) return null;
  return {
    claim_id: rows.text(claim_id),
    decision: claim_decision as ActionClaim["decision"],
    claimed_by: rows.text(claimed_by),
    claimed_at: rows.text(claimed_at),
  };
}
