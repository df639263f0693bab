// Runs of workflows in SQL.
import type { Row, Scalar, SqlDriver } from "../sql-driver.ts";
import type {
  StepStatus,
  StoredWorkflowRun,
  WorkflowQuery,
  WorkflowReason,
  WorkflowStatus,
  WorkflowStore,
} from "../workflow-store.ts";
import * as rows from "./rows.ts";
import { ofSubjects } from "./subjects.ts";
import { createWorkflowStanding } from "./workflow-standing.ts";
import { readSteps, readStepsAt } from "./workflow-steps.ts";

/** Looked up for each run that is found: for a join, all threads may be read and sorted. */
const ofRow = (column: string) => `(select ${column} from threads where threads.id = workflow_runs.run_id)`;

const RUN = `run_id, workflow_id, spec_hash, status, reason, body, payload_hash, created_at, started_at, ended_at, rerun_of,
  has_problem, ${ofRow("tags")} as tags, ${ofRow("parent_id")} as parent_id`;

const NEWEST_FIRST = "order by created_at desc, run_id desc";

const none: Readonly<Record<StepStatus, number>> = {
  ...{ running: 0, waiting: 0, succeeded: 0, failed: 0, skipped: 0, cut_off: 0 },
};

export function createWorkflowStore(driver: SqlDriver): WorkflowStore {
  return {
    ...createWorkflowStanding(driver),

    async get(runId) {
      const [row] = await driver.all(`select ${RUN} from workflow_runs where run_id = $1`, [runId]);
      return row && workflowRun(row);
    },

    async list(query) {
      const params: Scalar[] = [query.limit];
      const conditions = conditionsOf(query, params);
      const found = await driver.all(
        `select ${RUN} from workflow_runs where ${conditions.join(" and ")} ${NEWEST_FIRST} limit $1`,
        params,
      );
      return found.map(workflowRun);
    },

    steps: (runId, page) => readSteps(driver, runId, page),
    stepsAt: (runId, places) => readStepsAt(driver, runId, places),

    async undoable(runId) {
      const found = await driver.all(
        `select parent, position from workflow_steps where run_id = $1 and undo_order is not null
          order by undo_order, parent, position`,
        [runId],
      );
      return found.map(({ parent, position }) => ({ parent: rows.text(parent), position: rows.number(position) }));
    },

    async counts(runId) {
      const found = await driver.all(
        `select status, count(*) as steps from workflow_steps
          where run_id = $1 and position >= 0 and status is not null group by status`,
        [runId],
      );
      return { ...none, ...Object.fromEntries(found.map(({ status, steps }) => [status, rows.number(steps)])) };
    },

    async problems(limit) {
      const found = await driver.all(
        `select ${RUN} from workflow_runs where has_problem = 1 ${NEWEST_FIRST} limit $1`,
        [limit],
      );
      return found.map(workflowRun);
    },

    async prunable({ for_us, limit, after }) {
      const next = after === undefined ? "" : "and run_id > $3";
      // Where few have ended for so long, all that have ended are looked at.
      const found = await driver.readLong(
        `select run_id from workflow_runs where ended_at < (select now_us()) - cast($1 as bigint) ${next}
            and ${ofRow("parent_id")} is null
          order by run_id limit $2`,
        after === undefined ? [for_us, limit] : [for_us, limit, after],
      );
      return found.map(({ run_id }) => rows.text(run_id));
    },

    async endedOfUser({ user_id, workspace, limit, after }) {
      const params: Scalar[] = [limit, user_id];
      const bind = (value: Scalar) => `$${params.push(value)}`;
      const conditions = ["ended_at is not null", "parent_id is null", "user_id = $2"];
      if (after !== undefined) conditions.push(`run_id > ${bind(after)}`);
      if (workspace) {
        const { workspace_type, workspace_id } = workspace;
        const within = `workspace_type = ${bind(workspace_type)} and workspace_id = ${bind(workspace_id)}`;
        conditions.push(`run_id in (select thread_id from thread_subjects where ${within})`);
      }
      // Asked once in a while: all runs that have ended are looked at.
      const found = await driver.readLong(
        `select run_id from workflow_runs join threads on threads.id = workflow_runs.run_id
          where ${conditions.join(" and ")} order by run_id limit $1`,
        params,
      );
      return found.map(({ run_id }) => rows.text(run_id));
    },

    async waitingEvents(runId) {
      const [row] = await driver.all(
        "select count(*) as events from inbox where thread_id = $1 and drained_at is null and kind = 'event'",
        [runId],
      );
      return rows.number(row?.events);
    },

    async byWorkflow() {
      const found = await driver.readLong(
        `select workflow_id, status, count(*) as runs from workflow_runs group by workflow_id, status
          order by workflow_id, status`,
      );
      return found.map(({ workflow_id, status, runs }) => ({
        workflow_id: rows.text(workflow_id),
        status: status as WorkflowStatus,
        runs: rows.number(runs),
      }));
    },
  };
}

function conditionsOf(query: WorkflowQuery, params: Scalar[]): readonly string[] {
  const { workflow_id, status, tag, from, to, owner, workspace, parent, behind } = query;
  const bind = (value: Scalar) => `$${params.push(value)}`;
  const conditions = ["1 = 1"];
  if (workflow_id !== undefined) conditions.push(`workflow_id = ${bind(workflow_id)}`);
  if (status !== undefined) conditions.push(`status = ${bind(status)}`);
  if (tag !== undefined) {
    conditions.push(`run_id in (select run_id from workflow_run_tags where tag = ${bind(tag)})`);
  }
  if (from !== undefined) conditions.push(`created_at >= ${bind(from)}`);
  if (to !== undefined) conditions.push(`created_at <= ${bind(to)}`);
  if (parent === null) conditions.push(`${ofRow("parent_id")} is null`);
  else if (parent !== undefined) {
    conditions.push(`run_id in (select id from threads where parent_id = ${bind(parent)})`);
  }
  const subjects = { ...(owner && { owner }), ...(workspace !== undefined && { workspace }) };
  const narrowed = ofSubjects("run_id", subjects, params);
  if (narrowed !== undefined) conditions.push(narrowed);
  if (behind) {
    const place = `${bind(behind.created_at)}, ${bind(behind.id)}`;
    conditions.push(`(created_at, run_id) < (${place})`);
  }
  return conditions;
}

function workflowRun(row: Row): StoredWorkflowRun {
  return {
    run_id: rows.text(row.run_id),
    workflow_id: rows.text(row.workflow_id),
    spec_hash: rows.text(row.spec_hash),
    status: row.status as WorkflowStatus,
    reason: row.reason as WorkflowReason | null,
    body: rows.text(row.body),
    payload_hash: rows.text(row.payload_hash),
    created_at: rows.number(row.created_at),
    started_at: rows.optionalNumber(row.started_at),
    ended_at: rows.optionalNumber(row.ended_at),
    rerun_of: rows.optionalText(row.rerun_of),
    has_problem: row.has_problem === 1,
    tags: JSON.parse(rows.text(row.tags)) as readonly string[],
    parent_id: rows.optionalText(row.parent_id),
  };
}
