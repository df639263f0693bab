// Guidelines in SQL.
import { type GuidelineScope, PRIVATE_MEMORY, SHARED_GUIDANCE } from "../../contracts/memory/guideline.ts";
import type { Guideline, GuidelineFilter, GuidelineStore } from "../guideline-store.ts";
import type { Row, Scalar, SqlDriver } from "../sql-driver.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import { storable } from "./memory-rows.ts";
import * as rows from "./rows.ts";

const COLUMNS = `id, type, title, content, scope, user_id, workspace_id, status, version, created_at, updated_at,
  promoted_from, promoted_by`;

export function createGuidelineStore(driver: SqlDriver): GuidelineStore {
  async function get(id: string): Promise<Guideline | undefined> {
    const [row] = await driver.all(`select ${COLUMNS} from guidelines where id = $1`, [storable(id)]);
    return row && guideline(row);
  }

  return {
    get,

    async create({ id, type, title, content, scope, user_id, workspace_id, status }) {
      const sql = `insert into guidelines (id, type, title, content, scope, user_id, workspace_id, status, version,
          created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, 1, now_us(), now_us()) on conflict (id) do nothing`;
      const texts = [id, type, title, content, scope].map(storable);
      const params = [...texts, user_id, storable(workspace_id), storable(status)];
      await attemptBatch(driver, [{ sql, params }]);
      const made = await get(id);
      // Nobody else knows the id of a record that was just made.
      if (!made) throw new Error(`The guideline ${id} was deleted while it was made.`);
      return made;
    },

    async list(filter, { after, limit }) {
      const { where, params } = conditionOf(filter);
      const behind = after ? ` and (created_at, id) > ($${params.length + 2}, $${params.length + 3})` : "";
      const found = await driver.all(
        `select ${COLUMNS} from guidelines where ${where}${behind} order by created_at, id limit $${params.length + 1}`,
        [...params, limit, ...(after ? [after.created_at, storable(after.id)] : [])],
      );
      return found.map(guideline);
    },

    async count(filter) {
      const { where, params } = conditionOf(filter);
      const [row] = await driver.all(`select count(*) as count from guidelines where ${where}`, params);
      return rows.number(row?.count);
    },

    async update(id, version, { type = null, title = null, content = null, status = null }) {
      const sql = `update guidelines set type = coalesce($3, type), title = coalesce($4, title),
          content = coalesce($5, content), status = coalesce($6, status), version = version + 1,
          updated_at = case when now_us() > updated_at then now_us() else updated_at + 1 end
        where id = $1 and version = $2`;
      const change = [type, title, content, status].map((text) => (text === null ? null : storable(text)));
      const happened = async () => {
        const now = await get(id);
        return now && isChanged(now, version, change) ? COMMITTED : undefined;
      };
      const params = [storable(id), version, ...change];
      const done = await attemptBatch(driver, [{ sql, params, expect: 1 }], happened);
      return done.outcome === "committed" ? await get(id) : undefined;
    },

    async delete(id, version) {
      const sql = "delete from guidelines where id = $1 and version = $2";
      const happened = async () => ((await get(id)) ? undefined : COMMITTED);
      const statement = { sql, params: [storable(id), version], expect: 1 };
      return (await attemptBatch(driver, [statement], happened)).outcome === "committed";
    },

    async promote(from, to) {
      // The private row is held, so that it is promoted as it was read; made before, the shared one stays as it is.
      const held = {
        sql: "select id from guidelines where id = $1 and version = $2 and scope = $3 /*for update*/",
        params: [storable(from.id), from.version, PRIVATE_MEMORY],
        expect: 1,
      };
      const made = {
        sql: `insert into guidelines (id, type, title, content, scope, user_id, workspace_id, status, version, created_at,
            updated_at, promoted_from, promoted_by)
          select $2, type, title, content, $3, user_id, workspace_id, status, 1, now_us(), now_us(), id, $4
          from guidelines where id = $1
          on conflict do nothing`,
        params: [storable(from.id), to.id, SHARED_GUIDANCE, to.promoted_by],
      };
      const done = await attemptBatch(driver, [held, made]);
      if (done.outcome === "refused") return undefined;
      const [row] = await driver.all(`select ${COLUMNS} from guidelines where promoted_from = $1`, [storable(from.id)]);
      return row && guideline(row);
    },

    async forgetAll({ user_id, workspace_id }) {
      const there = workspace_id === undefined ? "" : " and workspace_id = $2";
      const sql = `delete from guidelines where scope = '${PRIVATE_MEMORY}' and user_id = $1${there} returning id`;
      const params = [user_id, ...(workspace_id === undefined ? [] : [storable(workspace_id)])];
      const done = await attemptBatch(driver, [{ sql, params }]);
      return done.outcome === "committed" ? (done.rows[0]?.length ?? 0) : 0;
    },
  };
}

/** Whether the record is as the update would have left it. */
function isChanged(now: Guideline, version: number, change: readonly (string | null)[]): boolean {
  const texts = [now.type, now.title, now.content, now.status];
  return now.version === version + 1 && change.every((text, index) => text === null || text === texts[index]);
}

/** A scope that is not asked for is not looked at; nobody's private records are those of user 0. */
function conditionOf({ workspace_id, shared, private_of, type, status }: GuidelineFilter) {
  const params: Scalar[] = [storable(workspace_id)];
  const place = (value: Scalar) => `$${params.push(value)}`;
  const scopes = [
    ...(shared ? [`scope = '${SHARED_GUIDANCE}'`] : []),
    ...(private_of !== null && private_of > 0
      ? [`(scope = '${PRIVATE_MEMORY}' and user_id = ${place(private_of)})`]
      : []),
  ];
  const parts = [
    "workspace_id = $1",
    scopes.length > 0 ? `(${scopes.join(" or ")})` : "1 = 0",
    ...(type === undefined ? [] : [`type = ${place(storable(type))}`]),
    ...(status === undefined ? [] : [`status = ${place(storable(status))}`]),
  ];
  return { where: parts.join(" and "), params };
}

function guideline(row: Row): Guideline {
  return {
    id: rows.text(row.id),
    type: rows.text(row.type),
    title: rows.text(row.title),
    content: rows.text(row.content),
    scope: rows.text(row.scope) as GuidelineScope,
    user_id: rows.number(row.user_id),
    workspace_id: rows.text(row.workspace_id),
    status: rows.text(row.status),
    version: rows.number(row.version),
    created_at: rows.number(row.created_at),
    updated_at: rows.number(row.updated_at),
    promoted_from: rows.optionalText(row.promoted_from),
    promoted_by: rows.optionalNumber(row.promoted_by),
  };
}
