// Threads that are due by columns of their own row: what Holdfast does, in plain SQL and without any of its code.
import pg from "pg";
import { type Engine, WORKERS_PER_PROCESS } from "./engine.ts";
import type { Extra, RunStep } from "./step.ts";

const LOOK_AROUND_MS = 500;
/** The first half of the keys of the advisory locks that say which workers live. */
const LIVING = 7001;

const COLUMNS = `
  alter table threads
    add due_at timestamptz,                       -- null: parked
    add wake_rev bigint not null default 0,       -- counts the wake-ups
    add lease_by integer,
    add lease_until timestamptz,
    add epoch bigint not null default 0,          -- of the lease: a worker that lost it cannot commit
    add claims integer not null default 0;        -- since the last commit; many of them mean that the thread is stuck
  create index threads_due on threads (due_at) where due_at is not null;
  create table workers (id integer primary key generated always as identity);
`;

const CLAIM = `
  update threads set lease_by = $1, lease_until = now() + interval '30 seconds', epoch = epoch + 1, claims = claims + 1
  where id = (
    select id from threads where due_at <= now() and (lease_until is null or lease_until < now())
    order by due_at limit 1 for update skip locked
  )
  returning id, epoch`;

const WAKE = `
  with message as (insert into messages (thread_id) values ($1)),
  before as (select id, due_at from threads where id = $1 for update),
  woken as (
    update threads set wake_rev = wake_rev + 1, due_at = least(coalesce(threads.due_at, now()), now())
    from before where threads.id = before.id
  )
  -- Only a parked thread needs to be announced; it also costs a lock of the whole server at commit.
  select pg_notify('due', '') from before where due_at is null`;

const RELEASE_OF_THE_DEAD = `
  with dead as (
    delete from workers where not exists (
      select from pg_locks where locktype = 'advisory' and classid = ${LIVING} and objid = workers.id
        and database = (select oid from pg_database where datname = current_database())
    ) returning id
  )
  update threads set lease_by = null, lease_until = null where lease_by in (select id from dead)`;

/** An activation runs on until the thread has nothing due; otherwise each step is claimed anew. */
export function columns(claim: "activation" | "step"): Engine {
  const runsOn = claim === "activation";
  return {
    name: runsOn ? "columns" : "columns, a claim for each step",
    setting: `a row is claimed for ${runsOn ? "an activation" : "one step"} with \`skip locked\`; an idle worker looks
      every ${LOOK_AROUND_MS} ms and is notified when a parked thread becomes due`,

    prepare: async ({ pool }) => {
      await pool.query(COLUMNS);
    },

    leaveParked: async () => {}, // Their rows are there already, and say it.

    start: async ({ pool }, threads) => {
      await pool.query("update threads set due_at = now() where id = any($1)", [threads]);
      await pool.query("notify due");
    },

    openSender: async (url) => {
      const pool = new pg.Pool({ connectionString: url });
      return {
        send: async (thread) => {
          await pool.query({ name: "wake", text: WAKE, values: [thread] });
        },
        close: () => pool.end(),
      };
    },

    work: async (url, runStep) => {
      const pool = new pg.Pool({ connectionString: url, max: WORKERS_PER_PROCESS });
      const bell = idleBell();
      const session = new pg.Client({ connectionString: url });
      await session.connect();
      session.on("notification", bell.ring);
      const me = await enrol(session);
      await session.query("listen due");
      let isStopping = false;
      const watch = setInterval(() => {
        // Whoever held a lease and is gone no longer holds its lock: the server saw its connection end.
        session.query(RELEASE_OF_THE_DEAD).then(bell.ring, bell.ring);
      }, LOOK_AROUND_MS);
      const loops = Array.from({ length: WORKERS_PER_PROCESS }, async () => {
        const client = await pool.connect();
        while (!isStopping) {
          const isBusy = await activate(client, me, runStep, runsOn);
          if (!isBusy && !isStopping) await bell.wait();
        }
        client.release();
      });
      return {
        stop: async () => {
          isStopping = true;
          clearInterval(watch);
          bell.ring();
          await Promise.all(loops);
          await session.end();
          await pool.end();
        },
      };
    },

    describeAbandoned: async (pool) => {
      const { rows } = await pool.query("select lease_by, lease_until from threads where lease_by is not null");
      return JSON.stringify(rows);
    },
  };
}

/** The lock comes before the row, so that nobody takes a worker that is just starting for dead. */
async function enrol(session: pg.Client): Promise<number> {
  const { rows } = await session.query("select nextval(pg_get_serial_sequence('workers', 'id'))::integer as id");
  await session.query("select pg_advisory_lock($1, $2)", [LIVING, rows[0].id]);
  await session.query("insert into workers (id) overriding system value values ($1)", [rows[0].id]);
  return rows[0].id;
}

/** Claims a thread and runs it; false when none is due. */
async function activate(client: pg.PoolClient, me: number, runStep: RunStep, runsOn: boolean): Promise<boolean> {
  const { rows } = await client.query({ name: "claim", text: CLAIM, values: [me] });
  if (rows.length === 0) return false;
  const { id, epoch } = rows[0];
  const extra = commitUnder(epoch, runsOn);
  for (;;) {
    const step = await runStep(client, id, extra);
    if (step.outcome === "idle") throw new Error("A thread that is due always has something to do.");
    if (step.outcome !== "committed" || step.remaining === 0 || !runsOn) return true;
  }
}

/**
 * The guard of the epoch in every commit, and the lease given back in the last one. A wake-up that came after the step
 * had looked makes the thread due again; this and parking are one update, so that none can fall in between.
 */
function commitUnder(epoch: string, runsOn: boolean): Extra {
  const goesOn = runsOn ? "remaining > 1" : "false";
  return {
    name: runsOn ? "in an activation" : "and let go",
    where: "epoch = $7",
    set: `
      claims = 0,
      lease_by = case when ${goesOn} then lease_by end,
      lease_until = case when ${goesOn} then now() + interval '30 seconds' end,
      due_at = case when ${goesOn} then due_at when remaining > 1 or wake_rev <> $8 then now() end`,
    params: ({ wake_rev }) => [epoch, wake_rev],
  };
}

/** Wakes whoever waits; a ring that nobody waited for counts for the next one, who may just have looked in vain. */
function idleBell() {
  let waiting: (() => void)[] = [];
  let rang = false;
  return {
    ring: () => {
      rang = true;
      for (const wake of waiting) wake();
      waiting = [];
    },
    wait: async () => {
      if (!rang) await new Promise<void>((wake) => waiting.push(wake));
      rang = false;
    },
  };
}
