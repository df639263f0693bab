// Requests in SQL.
import type { NewRequest, RequestStore, RequestTerms } from "../request-store.ts";
import type { Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import { rememberStatement } from "./approval-memory.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import * as rows from "./rows.ts";
import { ofSubjects } from "./subjects.ts";
import { insertEntry, tell, wake } from "./wake.ts";

export function createRequestStore(driver: SqlDriver): RequestStore {
  async function get(id: string) {
    const [row] = await driver.all(`select ${rows.REQUEST} from requests where id = $1`, [id]);
    return row && rows.request(row);
  }

  return {
    get,

    async list({ thread_id, status, kind, of, owner, workspace, ruled = false, calls, after, behind, limit = 100 }) {
      const params: Scalar[] = [limit];
      const conditions = ["1 = 1"];
      const where = (condition: (placeholder: string) => string, value: Scalar) => {
        conditions.push(condition(`$${params.push(value)}`));
      };
      if (thread_id !== undefined) where((placeholder) => `thread_id = ${placeholder}`, thread_id);
      if (status !== undefined) where((placeholder) => `status = ${placeholder}`, status);
      if (kind !== undefined) where((placeholder) => `kind = ${placeholder}`, kind);
      if (of !== undefined) {
        const isOf = (kind: string) => `threads.id = requests.thread_id and threads.kind = ${kind}`;
        where((placeholder) => `exists (select 1 from threads where ${isOf(placeholder)})`, of);
      }
      // In these words, because an index stands over approvals alone.
      if (ruled || calls !== undefined) conditions.push("kind = 'approval' and approvers is not null");
      if (calls !== undefined) conditions.push(mayCall(calls, params));
      const subjects = { ...(owner && { owner }), ...(workspace !== undefined && { workspace }) };
      const narrowed = ofSubjects("thread_id", subjects, params);
      if (narrowed !== undefined) conditions.push(narrowed);
      if (after !== undefined) {
        where(
          (placeholder) => `(created_at, id) > (select created_at, id from requests where id = ${placeholder})`,
          after,
        );
      }
      if (behind)
        conditions.push(`(created_at, id) > ($${params.push(behind.created_at)}, $${params.push(behind.id)})`);
      const found = await driver.all(
        `select ${rows.REQUEST} from requests where ${conditions.join(" and ")} order by created_at, id limit $1`,
        params,
      );
      return found.map(rows.request);
    },

    async submit(id, { body, payload_hash, mac, resolver, decided_by, edited, remembered }) {
      const request = await get(id);
      if (!request) return "refused";
      const entry = {
        id: `answer:${id}`,
        kind: "answer",
        body: JSON.stringify({ request_id: id }),
        operation: "submit",
        idempotency_key: id,
        payload_hash,
        wakes_stopped: true,
        urgent: false,
      } as const;
      const answer = {
        sql: `update requests set status = 'answered', answer = $2, payload_hash = $3, answer_mac = $4, resolver = $5,
            decided_by = $6, sealed = coalesce($7, sealed), binding = coalesce($8, binding), ended_at = now_us()
          where id = $1 and status = 'pending' and (expires_at is null or expires_at > now_us())`,
        params: [
          ...[id, body, payload_hash, mac, resolver ?? null, decided_by ?? null],
          ...[edited?.sealed ?? null, edited?.binding ?? null],
        ],
        expect: 1,
      };
      // The same answer by somebody else is as good: nobody could tell the two apart.
      const answered = async () => ((await get(id))?.payload_hash === payload_hash ? COMMITTED : undefined);
      const { outcome } = await attemptBatch(
        driver,
        [
          ...[wake(request.thread_id, entry), answer, insertEntry(request.thread_id, entry)],
          ...(remembered ? [rememberStatement(remembered)] : []),
          tell(request.thread_id, entry),
        ],
        answered,
      );
      return outcome === "committed" ? "submitted" : "refused";
    },

    async now() {
      const [row] = await driver.all("select now_us() as now");
      return rows.number(row?.now);
    },
  };
}

/**
 * That a rule may call the user. It is JSON that was written here, without spaces, and its only list is that of the users;
 * what is quoted in it keeps its quotes escaped. One that names nothing but a second person calls nobody.
 */
function mayCall(user: number, params: Scalar[]): string {
  const like = (...patterns: readonly string[]) =>
    patterns.map((pattern) => `approvers like $${params.push(pattern)}`).join(" or ");
  const named = like(`%[${user}]%`, `%[${user},%`, `%,${user},%`, `%,${user}]%`);
  return `(${named} or (approvers not like '%"users":[%' and (${like('%"capability":%', '%"role":%')})))`;
}

const noTerms: RequestTerms = {
  ...{ agent: "", creator: null, workspace_type: null, workspace_id: null, policy_version: "", approvers: null },
};

/** With `unlessTerminated` nothing happens when the thread is: no call would ever close the request. */
export function insertRequest(
  threadId: string,
  run: number,
  request: NewRequest,
  { unlessTerminated = false } = {},
): Statement {
  const sql = `insert into requests (id, thread_id, run, call, kind, tool_name, status, shown, sealed, binding,
      agent, creator, workspace_type, workspace_id, policy_version, approvers, created_at, expires_at)
    select $1, id, $3, $4, $5, $6, 'pending', $7, $8, $9, $11, $12, $13, $14, $15, $16, now_us(),
      now_us() + cast($10 as bigint)
    from threads where id = $2${unlessTerminated ? " and terminated_at is null" : ""}
    on conflict (id) do nothing`;
  const { id, call, kind, tool_name, shown, sealed, binding, expires_after } = request;
  const { agent, creator, workspace_type, workspace_id, policy_version, approvers } = request.terms ?? noTerms;
  const terms = [agent, creator, workspace_type, workspace_id, policy_version, approvers];
  return { sql, params: [id, threadId, run, call, kind, tool_name, shown, sealed, binding, expires_after, ...terms] };
}
