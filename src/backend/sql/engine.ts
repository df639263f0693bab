// The engine in SQL: the columns due_at, wake_rev, lease_by, lease_until, epoch and claims of the thread row.
import type { Claim, Engine } from "../engine.ts";
import type { Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import { dueWithEffects } from "./effects.ts";
import { leaveForParent } from "./leave.ts";
import * as rows from "./rows.ts";

/** What a parent is told that waits for a child which does not get on. */
const STUCK = {
  body: JSON.stringify({
    success: false,
    error: "The subagent got stuck: it was begun again and again without getting on.",
  }),
  payload_hash: "stuck",
};

export function createEngine(driver: SqlDriver): Engine {
  const run = (statement: Statement) => attemptBatch(driver, [statement]);
  /** Workers that nobody was found to be behind when they were last looked for. */
  const suspects = new Set<string>();

  return {
    async claim({ worker, limit, lease_us, except, ...asked }) {
      if (asked.agents.length === 0 || limit < 1) return [];
      const params: Scalar[] = [worker, lease_us, limit];
      const wanted = claimable(asked, params);
      // The time as a subselect is read once, and found in the index; a clock that is asked anew for every row is not.
      const sql = `update threads set lease_by = $1, lease_until = now_us() + $2, epoch = epoch + 1, claims = claims + 1
        where id in (
          select id from threads
          where due_at <= (select now_us()) and lease_until <= (select now_us()) and ${wanted}${excluding(except, params)}
          order by due_at limit $3 /*skip locked*/
        ) returning id, epoch, claims`;
      // When the answer is lost, the leases run out by themselves: claiming again would only take others.
      const claimed = await driver.batch([{ sql, params }]);
      if (claimed.outcome !== "committed") return [];
      return (claimed.rows[0] ?? []).map((row) => ({
        id: rows.text(row.id),
        epoch: rows.number(row.epoch),
        claims: rows.number(row.claims),
      }));
    },

    async renew(worker, threadIds, leaseMicroseconds) {
      const beat = {
        sql: `insert into workers (id, started_at, seen_at) values ($1, now_us(), now_us())
          on conflict (id) do update set seen_at = now_us()`,
        params: [worker],
      };
      const hold = {
        // In the order in which whoever writes to several threads locks them.
        sql: `update threads set lease_until = now_us() + $2 where lease_by = $1 and id in (
            select id from threads where lease_by = $1 and id in (${placeholders(threadIds, 3)}) order by id /*for update*/
          ) returning id, epoch, wake_rev`,
        params: [worker, leaseMicroseconds, ...threadIds],
      };
      const renewed = await attemptBatch(driver, threadIds.length > 0 ? [beat, hold] : [beat]);
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
      const due = "now_us() + cast($4 as bigint)";
      const sql = `update threads set lease_by = null, lease_until = 0,
        claims = case when cast($3 as bigint) is null then claims else 0 end,
        due_at = case when wake_rev = coalesce($3, wake_rev) then ${
          wake_rev === null ? due : dueWithEffects(due)
        } else now_us() end${error === undefined ? "" : ", last_error = $5"}
        where id = $1 and epoch = $2`;
      await run({ sql, params: [id, epoch, wake_rev, dueAfter, ...(error === undefined ? [] : [error])] });
    },

    async putBack({ id, epoch }) {
      const sql = `update threads set lease_by = null, lease_until = 0,
        claims = case when claims > 0 then claims - 1 else 0 end where id = $1 and epoch = $2 and lease_by is not null`;
      await run({ sql, params: [id, epoch] });
    },

    async release(worker) {
      // The claim did no harm, so it does not count towards being stuck.
      const sql = `update threads set lease_by = null, lease_until = 0, due_at = now_us(),
        claims = case when claims > 0 then claims - 1 else 0 end where lease_by = $1`;
      // Without a word about which: whoever has room looks for itself.
      await attemptBatch(driver, [
        { sql, params: [worker] },
        { sql: "select signal('')", params: [] },
      ]);
    },

    async markStuck(threadId, epoch) {
      const sql = `update threads set stuck_at = now_us(), lease_by = null, lease_until = 0, updated_at = now_us(),
          child_status = case when child is null then child_status else 'failed' end
        where id = $1 and epoch = $2`;
      await attemptBatch(driver, [{ sql, params: [threadId, epoch], expect: 1 }, ...leaveForParent(threadId, STUCK)]);
    },

    async retry(threadId) {
      const sql = `update threads set stuck_at = null, claims = 0, due_at = now_us(), wake_rev = wake_rev + 1
        where id = $1 and stuck_at is not null`;
      const statements = [
        { sql, params: [threadId], expect: 1 },
        { sql: "select signal(id) from threads where id = $1", params: [threadId] },
      ];
      const retried = async () => {
        const [thread] = await driver.all("select stuck_at from threads where id = $1", [threadId]);
        return thread?.stuck_at === null ? COMMITTED : undefined;
      };
      const { outcome } = await attemptBatch(driver, statements, retried);
      return outcome === "committed";
    },

    async register(worker) {
      await driver.holdSession(worker);
      const sql = `insert into workers (id, started_at, seen_at) values ($1, now_us(), now_us())
        on conflict (id) do update set seen_at = now_us()`;
      await run({ sql, params: [worker] });
    },

    async leave(worker) {
      await run({ sql: "delete from workers where id = $1", params: [worker] });
    },

    async reap(worker) {
      const others = await driver.all("select id from workers where id <> $1", [worker]);
      let [workers, threads] = [0, 0];
      for (const { id } of others) {
        const name = rows.text(id);
        const isHeld = await driver.isSessionHeld(name);
        // A session that was only cut off is back by the next look; where nobody else can be alive, one look is enough.
        const isCertain = !isHeld && (!driver.isShared || suspects.has(name));
        if (isHeld || isCertain) suspects.delete(name);
        else suspects.add(name);
        if (!isCertain) continue;
        const freed = await attemptBatch(driver, [
          {
            sql: "update threads set lease_until = 0, lease_by = null where lease_by = $1 returning id",
            params: [name],
          },
          { sql: "delete from workers where id = $1", params: [name] },
        ]);
        workers++;
        threads += (freed.outcome === "committed" && freed.rows[0]?.length) || 0;
      }
      return { workers, threads };
    },

    async nextDue(asked) {
      if (asked.agents.length === 0) return null;
      const params: Scalar[] = [];
      const [row] = await driver.all(
        `select min(due_at) - now_us() as wait from threads
          where due_at is not null and lease_until <= now_us() and ${claimable(asked, params)}`,
        params,
      );
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

/** Which threads may be taken, whenever they are due. Adds what it compares with to the parameters. */
function claimable(asked: Pick<Claim, "agents" | "state_version" | "off" | "full">, params: Scalar[]): string {
  const { agents, state_version, off = [], full = [] } = asked;
  const on = agents.filter((agent) => !off.includes(agent));
  const stopping = `exists (
    select 1 from inbox where inbox.thread_id = threads.id and inbox.drained_at is null and inbox.kind = 'stop')`;
  const ofAgents = [
    ...(on.length > 0 ? [`agent in (${added(on, params)})`] : []),
    ...(off.length > 0 ? [`agent in (${added(off, params)}) and ${stopping}`] : []),
  ];
  const conditions = [
    "stuck_at is null",
    `state_version <= ${added([state_version], params)}`,
    ofAgents.length > 1 ? `(${ofAgents.join(" or ")})` : (ofAgents[0] ?? "1 = 0"),
  ];
  if (full.length > 0) {
    conditions.push(`not exists (
      select 1 from thread_subjects where thread_id = threads.id and ${TENANT} in (${added(full, params)}))`);
  }
  return conditions.join(" and ");
}

function excluding(ids: readonly string[], params: Scalar[]): string {
  return ids.length > 0 ? ` and id not in (${added(ids, params)})` : "";
}

/** Adds the values to the parameters, and gives what stands for them. */
function added(values: readonly Scalar[], params: Scalar[]): string {
  const first = params.length + 1;
  params.push(...values);
  return placeholders(values, first);
}

function placeholders(values: readonly unknown[], first: number): string {
  return values.map((_, index) => `$${first + index}`).join(", ");
}
