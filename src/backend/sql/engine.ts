// The engine of threads: their rows as a leased table, and which of them may be claimed.
import type { Engine, Wanted } from "../engine.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import { dueWithEffects } from "./effects.ts";
import type { Bind, LeasedTable, SqlText } from "./leased-table.ts";
import * as leased from "./leased-table.ts";
import { lastWords, leaveForParent } from "./leave.ts";
import { beat } from "./membership.ts";
import * as rows from "./rows.ts";

export const THREADS: LeasedTable = {
  name: "threads",
  order: "due_at",
  renewed: ["wake_rev"],
  canBeStuck: true,
  dueAt: dueWithEffects,
};

/** What a parent is told that waits for a child which does not get on. */
const STUCK = lastWords("got stuck: it was begun again and again without getting on.", "stuck");

export function createEngine(driver: SqlDriver): Engine {
  const run = (statement: Statement) => attemptBatch(driver, [statement]);

  return {
    async claim({ worker, limit, lease_us, except, ...asked }) {
      if (isNothing(asked) || limit < 1) return [];
      const condition = claimable(asked);
      // When the answer is lost, the leases run out by themselves: claiming again would only take others.
      const claimed = await driver.batch([leased.claim(THREADS, { worker, lease_us, limit, except, condition })]);
      if (claimed.outcome !== "committed") return [];
      return (claimed.rows[0] ?? []).map((row) => ({
        id: rows.text(row.id),
        epoch: rows.number(row.epoch),
        claims: rows.number(row.claims),
      }));
    },

    async renew(worker, threadIds, leaseMicroseconds) {
      const hold = threadIds.length > 0 ? [leased.renew(THREADS, worker, threadIds, leaseMicroseconds)] : [];
      const renewed = await attemptBatch(driver, [beat(worker), ...hold]);
      if (renewed.outcome !== "committed") return [];
      return (renewed.rows[1] ?? []).map((row) => ({
        id: rows.text(row.id),
        epoch: rows.number(row.epoch),
        wake_rev: rows.number(row.wake_rev),
      }));
    },

    async giveBack({ id, epoch, wake_rev }, dueAfter, error) {
      // Finding nothing to do is no failure: only a claim that went wrong counts towards being stuck. What went wrong is
      // not tried again before its time because an effect is due.
      const isFine = error === undefined && wake_rev !== null;
      const set: SqlText = (bind) =>
        isFine ? "last_error = null" : `last_error = coalesce(${bind(error ?? null)}, last_error)`;
      await run(leased.giveBack(THREADS, { id, epoch, wake_rev, due_after: dueAfter, set }));
    },

    async putBack(claimed) {
      await run(leased.putBack(THREADS, claimed));
    },

    async markStuck(threadId, epoch) {
      const set = () => `updated_at = now_us(),
          child_status = case when child is null then child_status else 'failed' end`;
      await attemptBatch(driver, [
        leased.markStuck(THREADS, { id: threadId, epoch, set }),
        ...leaveForParent(threadId, STUCK),
      ]);
    },

    async retry(threadId) {
      const statements = [
        leased.retryStuck(THREADS, threadId),
        { sql: "select signal(id) from threads where id = $1", params: [threadId] },
      ];
      const retried = async () => {
        const [thread] = await driver.all("select stuck_at from threads where id = $1", [threadId]);
        return thread?.stuck_at === null ? COMMITTED : undefined;
      };
      const { outcome } = await attemptBatch(driver, statements, retried);
      return outcome === "committed";
    },

    async nextDue(asked) {
      if (isNothing(asked)) return null;
      const { sql, params } = leased.nextDue(THREADS, claimable(asked));
      const [row] = await driver.all(sql, params);
      return row?.wait == null ? null : Math.max(0, rows.number(row.wait));
    },

    async tenants(threadIds) {
      if (threadIds.length === 0) return new Map();
      const sql = `select thread_id, ${TENANT} as tenant from thread_subjects
        where thread_id in (${placeholders(threadIds, 1)})`;
      const found = (await driver.all(sql, threadIds)).filter(({ tenant }) => tenant !== null);
      return new Map(found.map(({ thread_id, tenant }) => [rows.text(thread_id), rows.text(tenant)]));
    },

    async view(threadId) {
      const [row] = await driver.all(
        `select now_us() as now, due_at, lease_by, lease_until, claims, stuck_at, state_version, last_error,
            (select count(*) from inbox where thread_id = threads.id and drained_at is null) as waiting,
            (select count(*) from workers) as workers,
            (select count(*) from workers where workers.id = threads.lease_by) as holders
          from threads where id = $1`,
        [threadId],
      );
      return (
        row && {
          now: rows.number(row.now),
          due_at: rows.optionalNumber(row.due_at),
          lease_by: rows.optionalText(row.lease_by),
          lease_until: rows.number(row.lease_until),
          claims: rows.number(row.claims),
          stuck_at: rows.optionalNumber(row.stuck_at),
          state_version: rows.number(row.state_version),
          last_error: rows.optionalText(row.last_error),
          waiting: rows.number(row.waiting),
          workers: rows.number(row.workers),
          is_holder_known: rows.number(row.holders) > 0,
        }
      );
    },
  };
}

/** Whose a thread is, in one word; what belongs to nobody has none. */
const TENANT = "coalesce(owner_type || ' ' || owner_key, workspace_type || ' ' || workspace_id)";

/** True where no row can be meant: threads of no agent. */
function isNothing(asked: Wanted): boolean {
  return "agents" in asked && asked.agents.length === 0;
}

/** Which rows may be claimed, whenever they are due. */
function claimable(asked: Wanted): SqlText {
  const { state_version, full = [] } = asked;
  return (bind) => {
    const conditions = [...ofKind(asked, bind), `state_version <= ${bind(state_version)}`];
    if (full.length > 0) {
      conditions.push(`not exists (
        select 1 from thread_subjects where thread_id = threads.id and ${TENANT} in (${bind(...full)}))`);
    }
    return conditions.join(" and ");
  };
}

/** The kind stands there in these words, because each of the two indexes of due rows knows only some kinds. */
function ofKind(asked: Wanted, bind: Bind): readonly string[] {
  if (!("agents" in asked)) return ["kind <> 'thread'", `kind = '${asked.kind}'`];
  const { agents, off = [] } = asked;
  const on = agents.filter((agent) => !off.includes(agent));
  const stopping = `exists (
      select 1 from inbox where inbox.thread_id = threads.id and inbox.drained_at is null and inbox.kind = 'stop')`;
  const ofAgents = [
    ...(on.length > 0 ? [`agent in (${bind(...on)})`] : []),
    ...(off.length > 0 ? [`agent in (${bind(...off)}) and ${stopping}`] : []),
  ];
  return ["kind = 'thread'", ofAgents.length > 1 ? `(${ofAgents.join(" or ")})` : (ofAgents[0] ?? "1 = 0")];
}

function placeholders(values: readonly unknown[], first: number): string {
  return values.map((_, index) => `$${first + index}`).join(", ");
}
