// Schedules and circuit breakers in SQL. A change leaves its id on its row, so that it is found again when its answer was lost.
import type {
  BreakerState,
  ScheduleStatus,
  ScheduleStore,
  StoredBreaker,
  StoredSchedule,
} from "../../gateway/schedule-store.ts";
import type { Row, Scalar, SqlDriver, Statement } from "../../sql-driver.ts";
import { attemptBatch, COMMITTED } from "../attempt-batch.ts";
import * as rows from "../rows.ts";
import { storableText } from "../storable-text.ts";
import { type Addition, additionStatements, entryStatements } from "./add-jobs.ts";
import { attemptAddition } from "./attempt-addition.ts";
import { takeNumbers } from "./control-row.ts";

const CHANGING = [
  ...(["definition_hash", "status", "reason", "next_run_at", "last_run_at", "last_success_at", "removed_at"] as const),
];
const SCHEDULE = `plugin, schedule_id, ${CHANGING.join(", ")}`;
const BREAKER = "plugin, command, state, failures, opened_at";

export function createScheduleStore(driver: SqlDriver): ScheduleStore {
  const changed = (table: "gateway_schedules" | "gateway_breakers", changeId: string) => async () => {
    const found = await driver.all(`select 1 from ${table} where change_id = $1`, [changeId]);
    return found.length > 0 ? COMMITTED : undefined;
  };

  return {
    async list() {
      const sql = `select ${SCHEDULE} from gateway_schedules order by plugin, schedule_id`;
      return (await driver.all(sql)).map(scheduleOf);
    },

    async get(plugin, scheduleId) {
      const sql = `select ${SCHEDULE} from gateway_schedules where plugin = $1 and schedule_id = $2`;
      const [row] = await driver.all(sql, [storableText(plugin), storableText(scheduleId)]);
      return row && scheduleOf(row);
    },

    async put(schedule, expected) {
      const changeId = crypto.randomUUID();
      const own = valuesOf(schedule, changeId);
      const statement = expected
        ? replaceSchedule(
            own,
            CHANGING.map((column) => [column, expected[column]] as const),
          )
        : insertSchedule(own);
      const { outcome } = await attemptBatch(driver, [statement], changed("gateway_schedules", changeId));
      return outcome === "committed";
    },

    async forget(microseconds) {
      const sql = "delete from gateway_schedules where removed_at <= now_us() - cast($1 as bigint)";
      await attemptBatch(driver, [{ sql, params: [microseconds] }]);
    },

    async fire({ schedule, expected_next_run_at, jobs, stream, breaker }) {
      const changeId = crypto.randomUUID();
      // One that was paused meanwhile stays paused, one that was changed or removed does not go on as it was.
      const guard = replaceSchedule(valuesOf(schedule, changeId), [
        ["next_run_at", expected_next_run_at],
        ["status", "active"],
        ["definition_hash", schedule.definition_hash],
        ["removed_at", null],
      ]);
      const guards = [guard, ...(breaker ? [replaceBreaker(breaker.next, breaker.expected, changeId)] : [])];
      const fired = await attemptAddition(
        driver,
        { jobs, contexts: [], stream },
        (left: Addition) =>
          additionStatements<"taken">(left, {
            guards: guards.map((statement) => ({ statement, refusal: "taken" })),
            signals: left.jobs.length > 0,
          }),
        changed("gateway_schedules", changeId),
      );
      return fired.outcome === "refused" ? { outcome: "taken" } : { outcome: "fired", jobs: fired.jobs };
    },

    async setStatus(plugin, scheduleId, status, reason) {
      const sql = `update gateway_schedules set status = $3, reason = $4
        where plugin = $1 and schedule_id = $2 and removed_at is null`;
      const params = [storableText(plugin), storableText(scheduleId), status, reason];
      const { outcome } = await attemptBatch(driver, [{ sql, params, expect: 1 }]);
      return outcome === "committed";
    },

    async breaker(plugin, command) {
      const sql = `select ${BREAKER} from gateway_breakers where plugin = $1 and command = $2`;
      const [row] = await driver.all(sql, [storableText(plugin), storableText(command)]);
      return row && breakerOf(row);
    },

    async breakers() {
      const sql = `select ${BREAKER} from gateway_breakers order by plugin, command`;
      return (await driver.all(sql)).map(breakerOf);
    },

    async putBreaker(breaker, expected, stream = []) {
      const changeId = crypto.randomUUID();
      const statement = expected ? replaceBreaker(breaker, expected, changeId) : insertBreaker(breaker, changeId);
      const entries = stream.length > 0 ? [takeNumbers({ entries: stream.length }), ...entryStatements(stream)] : [];
      const { outcome } = await attemptBatch(driver, [statement, ...entries], changed("gateway_breakers", changeId));
      return outcome === "committed";
    },
  };
}

function insertSchedule(own: readonly Scalar[]): Statement {
  const sql = `insert into gateway_schedules (${SCHEDULE}, change_id) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    on conflict (plugin, schedule_id) do nothing`;
  return { sql, params: own, expect: 1 };
}

const NUMBERS: readonly string[] = ["next_run_at", "last_run_at", "last_success_at", "removed_at"];

/** If the columns still have the expected values. */
function replaceSchedule(own: readonly Scalar[], expected: readonly (readonly [string, Scalar])[]): Statement {
  const params = [...own];
  const conditions = expected.map(([column, value]) => {
    const type = NUMBERS.includes(column) ? "bigint" : "text";
    return `and ${column} is not distinct from cast($${params.push(value)} as ${type})`;
  });
  const sql = `update gateway_schedules set definition_hash = $3, status = $4, reason = $5,
      next_run_at = cast($6 as bigint), last_run_at = cast($7 as bigint), last_success_at = cast($8 as bigint),
      removed_at = cast($9 as bigint), change_id = $10
    where plugin = $1 and schedule_id = $2 ${conditions.join(" ")}`;
  return { sql, params, expect: 1 };
}

function insertBreaker({ plugin, command, state, failures, opened_at }: StoredBreaker, changeId: string): Statement {
  const sql = `insert into gateway_breakers (${BREAKER}, change_id) values ($1, $2, $3, $4, $5, $6)
    on conflict (plugin, command) do nothing`;
  return { sql, params: [plugin, command, state, failures, opened_at, changeId], expect: 1 };
}

/** If it is still as expected. */
function replaceBreaker(next: StoredBreaker, expected: StoredBreaker, changeId: string): Statement {
  const { plugin, command, state, failures, opened_at } = next;
  const sql = `update gateway_breakers set state = $3, failures = $4, opened_at = cast($5 as bigint), change_id = $6
    where plugin = $1 and command = $2 and state = $7 and failures = $8
      and opened_at is not distinct from cast($9 as bigint)`;
  const own = [plugin, command, state, failures, opened_at, changeId];
  return { sql, params: [...own, expected.state, expected.failures, expected.opened_at], expect: 1 };
}

function valuesOf(schedule: StoredSchedule, changeId: string): readonly Scalar[] {
  return [schedule.plugin, schedule.schedule_id, ...CHANGING.map((column) => schedule[column]), changeId];
}

function scheduleOf(row: Row): StoredSchedule {
  return {
    plugin: rows.text(row.plugin),
    schedule_id: rows.text(row.schedule_id),
    definition_hash: rows.text(row.definition_hash),
    status: row.status as ScheduleStatus,
    reason: rows.optionalText(row.reason),
    next_run_at: rows.optionalNumber(row.next_run_at),
    last_run_at: rows.optionalNumber(row.last_run_at),
    last_success_at: rows.optionalNumber(row.last_success_at),
    removed_at: rows.optionalNumber(row.removed_at),
  };
}

function breakerOf(row: Row): StoredBreaker {
  return {
    plugin: rows.text(row.plugin),
    command: rows.text(row.command),
    state: row.state as BreakerState,
    failures: rows.number(row.failures),
    opened_at: rows.optionalNumber(row.opened_at),
  };
}
