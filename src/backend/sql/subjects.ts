// Subjects in SQL.
import type { NewThread } from "../new-thread.ts";
import type { Row, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import type { StoredSubject, SubjectQuery, SubjectStore } from "../subject-store.ts";
import { attemptBatch } from "./attempt-batch.ts";
import { lockLiving } from "./lock-threads.ts";
import * as rows from "./rows.ts";
import { livingTree } from "./tree.ts";

export const SUBJECT = "principal, workspace_type, workspace_id, owner_type, owner_key, context, consent";

/** What is written with it, and only ever looked for. */
const WRITTEN = `${SUBJECT}, audience_id, place_id`;

export function createSubjectStore(driver: SqlDriver): SubjectStore {
  return {
    async get(threadId) {
      const [row] = await driver.all(`select ${SUBJECT} from thread_subjects where thread_id = $1`, [threadId]);
      return row && subjectRow(row);
    },

    async changeConsent(threadId, subject, consent, takenBack = []) {
      const made = { ...subject, consent };
      const sql = `${insertSql("from threads where id = $1")}
        on conflict (thread_id) do update set consent = excluded.consent where thread_subjects.consent = $11`;
      const params = [threadId, ...valuesOf(made), ...foundBy(made), subject.consent];
      const { outcome } = await attemptBatch(driver, [
        // A child that is being made has the consent of before, and is waited for.
        ...(takenBack.length > 0 ? lockLiving(driver, threadId) : []),
        { sql, params, expect: 1 },
        ...takenBack.map((operation) => takeBack(threadId, subject, operation)),
      ]);
      if (outcome === "committed") return "changed";
      const [thread] = await driver.all("select 1 as found from threads where id = $1", [threadId]);
      return thread ? "overtaken" : "not_found";
    },

    async share({ id, session_id, shared_with, shared_by, consent }) {
      const sql = `insert into session_shares (id, session_id, shared_with, shared_by, consent, at)
        values ($1, $2, $3, $4, $5, now_us()) on conflict (id) do nothing`;
      await attemptBatch(driver, [{ sql, params: [id, session_id, shared_with, shared_by, consent] }]);
    },

    async shares(sessionId) {
      const found = await driver.all("select * from session_shares where session_id = $1 order by at, id", [sessionId]);
      return found.map((row) => ({
        id: rows.text(row.id),
        session_id: rows.text(row.session_id),
        shared_with: rows.text(row.shared_with),
        shared_by: rows.text(row.shared_by),
        consent: rows.text(row.consent),
        at: rows.number(row.at),
      }));
    },
  };
}

/** Consent is JSON that was written here, without spaces; both databases read it as the text that it is. */
function takeBack(threadId: string, { principal }: StoredSubject, operation: string): Statement {
  const agreed = `${JSON.stringify(operation)}:true`;
  const sql = `update thread_subjects set consent = replace(consent, $3, $4)
    where thread_id in (${livingTree("$1")} /*few rows*/) and principal = $2 and consent like $5`;
  return { sql, params: [threadId, principal, agreed, `${JSON.stringify(operation)}:false`, `%${agreed}%`] };
}

/** The subject of a new thread: its own, or that of its parent, so that no child may do more than who created it. */
export function insertSubject({ id, parent_id, subject }: NewThread): readonly Statement[] {
  if (subject) {
    return [
      {
        sql: `${insertSql("from threads where id = $1")} on conflict do nothing`,
        params: [id, ...valuesOf(subject), ...foundBy(subject)],
      },
    ];
  }
  return parent_id === null ? [] : [copySubject(id, parent_id)];
}

export function copySubject(id: string, from: string): Statement {
  const sql = `insert into thread_subjects (thread_id, ${WRITTEN})
    select threads.id, ${WRITTEN} from thread_subjects join threads on threads.id = $1
    where thread_id = $2 on conflict do nothing`;
  return { sql, params: [id, from] };
}

function insertSql(from: string): string {
  return `insert into thread_subjects (thread_id, ${WRITTEN}) select id, $2, $3, $4, $5, $6, $7, $8, $9, $10 ${from}`;
}

function valuesOf(subject: StoredSubject) {
  const { principal, workspace_type, workspace_id, owner_type, owner_key, context, consent } = subject;
  return [principal, workspace_type, workspace_id, owner_type, owner_key, context, consent];
}

/** The columns that follow from the others. */
function foundBy({ principal, workspace_id }: StoredSubject): readonly (string | null)[] {
  const { audience_id = null, workspace_id: own = null } = JSON.parse(principal) as {
    readonly audience_id?: string | null;
    readonly workspace_id?: string | null;
  };
  return [audience_id, workspace_id ?? own];
}

/** The condition that a column holds the id of a thread whose subject is so; undefined where all are wanted. */
export function ofSubjects(column: string, { owner, workspace }: SubjectQuery, params: Scalar[]): string | undefined {
  const conditions: string[] = [];
  if (owner !== undefined) {
    conditions.push(`owner_type = $${params.push(owner.type)} and owner_key = $${params.push(owner.key)}`);
  }
  if (owner?.audience !== undefined) conditions.push(`audience_id = $${params.push(owner.audience)}`);
  if (workspace !== undefined) conditions.push(`place_id = $${params.push(workspace)}`);
  if (conditions.length === 0) return undefined;
  return `${column} in (select thread_id from thread_subjects where ${conditions.join(" and ")})`;
}

export function subjectRow(row: Row): StoredSubject {
  return {
    principal: rows.text(row.principal),
    workspace_type: rows.optionalText(row.workspace_type),
    workspace_id: rows.optionalText(row.workspace_id),
    owner_type: rows.optionalText(row.owner_type),
    owner_key: rows.optionalText(row.owner_key),
    context: rows.text(row.context),
    consent: rows.text(row.consent),
  };
}
