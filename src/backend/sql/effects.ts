// Effects that threads schedule, statement by statement, and what they do to the time at which a thread is due.
import type { Statement } from "../sql-driver.ts";
import type { EffectStatus, NewEffect } from "../write.ts";

/** When a thread is due that is laid down: at a time of its own, or with the next of its effects if that comes first. */
export function dueWithEffects(at: string): string {
  // Those that were begun count too: whoever lays the thread down is not at work on one any more.
  return `(select min(at) from (
      select ${at} as at union all
      select min(scheduled_at) from effects
      where effects.thread_id = threads.id and effects.status in (${OPEN}) and threads.terminated_at is null
    ) as candidates)`;
}

/** The states of an effect that is still to be run, as the index has them. */
export const OPEN = "'pending', 'processing'";

/** For a batch that lays the thread down and changes effects: only now it is known which are left. */
export function considerEffects(threadId: string): Statement {
  return { sql: `update threads set due_at = ${dueWithEffects("due_at")} where id = $1`, params: [threadId] };
}

/** Who schedules it. */
type Writer = "its holder" | "another thread" | "somebody outside";

/**
 * Refused when the thread is terminated. Unless it is the writer's own, its holder is woken: it may be about to lay the
 * thread down, without having seen the effect.
 */
export function scheduleEffect(threadId: string, effect: NewEffect, writer: Writer): readonly Statement[] {
  const isOwn = writer === "its holder";
  const { id, name, args, after, manual_run, replayed_from } = effect;
  const insert: Statement = {
    sql: `insert into effects (thread_id, id, name, args, status, scheduled_at, created_at, attempts, manual_run,
        manual_run_at, replayed_from)
      select id, $2, $3, $4, 'pending', now_us() + $5, now_us(), 0, $6, case when $6 = 1 then now_us() end, $7
      from threads where id = $1 and terminated_at is null
      on conflict (thread_id, id) do update set scheduled_at = excluded.scheduled_at,
        manual_run = excluded.manual_run, manual_run_at = excluded.manual_run_at where effects.status = 'pending'`,
    params: [threadId, id, name, args, after, manual_run ? 1 : 0, replayed_from],
    // Another thread may be over by now: nothing is left for it then.
    ...(writer !== "another thread" && { expect: 1 }),
  };
  const scheduled = "(select scheduled_at from effects where thread_id = $1 and effects.id = $2)";
  const due: Statement = {
    sql: `update threads set due_at = case when due_at <= ${scheduled} then due_at else ${scheduled} end${
      isOwn ? "" : ", wake_rev = wake_rev + 1"
    } where id = $1`,
    params: [threadId, id],
  };
  if (isOwn) return [insert, due];
  const tell = { sql: "select signal(id) from threads where id = $1 and lease_until <= now_us()", params: [threadId] };
  return [insert, due, tell];
}

export type EffectChange = {
  readonly thread_id: string;
  readonly id: string;
  readonly from: readonly EffectStatus[];
  readonly to: EffectStatus;
  readonly error?: string;
};

/** Changes nothing unless the effect is in one of the states it is to come from. */
export function changeEffect({ thread_id, id, from, to, error }: EffectChange): Statement {
  const changes = {
    pending: "completed_at = null",
    processing: "attempts = attempts + 1, completed_at = null",
    completed: ENDED,
    failed: ENDED,
    agent_canceled: ENDED,
    user_canceled: ENDED,
  } as const satisfies Record<EffectStatus, string>;
  const states = from.map((_, index) => `$${index + 5}`).join(", ");
  const sql = `update effects set status = $3, error = $4, ${changes[to]}
    where thread_id = $1 and id = $2 and status in (${states})`;
  // No text of a database may hold a zero.
  return { sql, params: [thread_id, id, to, error?.replaceAll("\0", "") ?? null, ...from] };
}

const ENDED = "completed_at = now_us()";

/** What is over is kept for a while: a failure for a day, the rest for thirty. */
export function forgetEffects(threadId: string): Statement {
  const sql = `delete from effects where thread_id = $1 and completed_at < now_us() - $2
    and (status = 'failed' or completed_at < now_us() - $3)`;
  return { sql, params: [threadId, DAY_US, 30 * DAY_US] };
}

const DAY_US = 86_400_000_000;
