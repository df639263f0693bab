// What the statements cost that every step needs, as tests: they find their rows by an index, however many threads and
// messages there are.
import { expect, it } from "vitest";
import { aCommit, anEntry, MINUTE } from "./contract/a-commit.ts";
import { claim, type StoresInTest } from "./contract/stores-in-test.ts";
import type { SqlDriver, Statement } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";

const THREADS = 3_000;

type Database = SqlDriver["name"];

/** What a plan has to say on each database. */
type Index = Readonly<Record<Database, RegExp>>;

const named = (name: string): Index => ({ sqlite: new RegExp(name), postgres: new RegExp(name) });

const verbs: readonly { verb: string; run(stores: Stores): Promise<unknown>; indexes: readonly Index[] }[] = [
  {
    verb: "claim",
    run: (stores) => claim(stores, { limit: 10 }),
    // Not only in the order of the index: a thread that waits for tomorrow must not be looked at today.
    indexes: [named("threads_due"), { sqlite: /threads_due \(due_at<\?\)/, postgres: /Index Cond: \(.*due_at <= / }],
  },
  {
    verb: "nextDue",
    run: ({ engine }) => engine.nextDue({ agents: ["support", "sales"], state_version: 1 }),
    indexes: [named("threads_due")],
  },
  {
    verb: "renew",
    run: ({ engine }) => engine.renew("worker 1", ["thread 8", "thread 18"], MINUTE),
    indexes: [{ sqlite: /threads USING INDEX/, postgres: /threads_(leased|pkey)/ }],
  },
  {
    verb: "load",
    run: ({ threads }) => threads.load("thread 7"),
    indexes: [
      { sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ },
      { sqlite: /answers USING INDEX \w+ \(thread_id=\?\)/, postgres: /answers_pkey/ },
      { sqlite: /messages USING INDEX \w+ \(thread_id=\? AND seq>\?\)/, postgres: /messages_pkey/ },
    ],
  },
  {
    verb: "commit",
    run: ({ threads }) => threads.commit(aCommit({ id: "thread 8", epoch: 1 }, { drained: [1] })),
    indexes: [{ sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ }],
  },
  {
    verb: "put",
    run: ({ inbox }) => inbox.put("thread 7", anEntry()),
    indexes: [{ sqlite: /threads USING INDEX \w+ \(id=\?\)/, postgres: /threads_pkey/ }],
  },
  {
    verb: "waiting",
    run: ({ inbox }) => inbox.waiting("thread 7"),
    indexes: [named("inbox_waiting")],
  },
  {
    verb: "unknownCalls",
    run: ({ threads }) => threads.unknownCalls(10),
    indexes: [named("calls_unknown")],
  },
];

export function describeQueryPlans(name: string, open: () => Promise<StoresInTest>): void {
  it(`what every step needs is found by an index on ${name}`, async () => {
    const { driver, storesOn } = await open();
    await fill(driver);
    const used: Statement[] = [];
    const stores = await storesOn(recordingDriver(driver, used));
    for (const { verb, run, indexes } of verbs) {
      used.splice(0);
      await run(stores);
      const plan = await planOf(driver, used);
      expect(plan, verb).not.toMatch(/Seq Scan|SCAN \w+$/m);
      for (const index of indexes) expect(plan, verb).toMatch(index[driver.name]);
    }
  });
}

async function planOf(driver: SqlDriver, statements: readonly Statement[]): Promise<string> {
  const explain = driver.name === "sqlite" ? "explain query plan" : "explain";
  const plans = await Promise.all(statements.map(({ sql, params }) => driver.all(`${explain} ${sql}`, params)));
  return plans.flatMap((lines) => lines.map((line) => line.detail ?? line["QUERY PLAN"])).join("\n");
}

/** Of ten threads one is due, three wait for a time, and one is held; the others have nothing to do. */
async function fill(driver: SqlDriver): Promise<void> {
  const threads = `with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ${THREADS})`;
  const each = (table: string, columns: string, values: string, times = 1) => ({
    sql: `insert into ${table} (${columns}) ${threads}, repeated (m) as (select 1 union all select m + 1 from repeated
      where m < ${times}) select ${values} from counted cross join repeated`,
    params: [],
  });
  await driver.batch([
    each(
      "threads",
      `id, thread_key, agent, status, created_at, updated_at, state_version, run, steps, next_seq, next_message,
        tail_from, last_hash, inbox_seq, due_at, wake_rev, lease_by, lease_until, epoch, claims`,
      `'thread ' || n, 'key ' || n, case when n % 2 = 0 then 'support' else 'sales' end, 'idle', n, n, 1, 1, 1, 10, 10,
        5, 'hash', 3, case when n % 10 = 0 then now_us() - n when n % 10 < 4 then now_us() + cast(n as bigint) * 1000000000
        when n % 10 = 8 then 1 end,
        3, case when n % 10 = 8 then 'worker ' || (n % 7) end, case when n % 10 = 8 then now_us() + 600000000 else 0 end,
        1, 0`,
    ),
    each("answers", "thread_id, sealed", "'thread ' || n, 'sealed answer'"),
    each(
      "inbox",
      "thread_id, seq, id, kind, body, operation, idempotency_key, payload_hash, run, created_at, drained_at",
      `'thread ' || n, m, 'entry ' || m, 'message', null, 'send', 'key ' || m, 'hash', 1, n,
        case when m < 3 or n % 10 <> 0 then 1 end`,
      3,
    ),
    each(
      "messages",
      "thread_id, seq, run, step, kind, envelope, salt, hash, at",
      "'thread ' || n, m - 1, 1, 1, 'message', '{}', 'salt', 'hash', n",
      10,
    ),
    each(
      "events",
      "thread_id, seq, run, step, records, messages_from, messages_to, tail_from, settled, at, hash",
      "'thread ' || n, m - 1, 1, 1, '[]', m - 1, m, 5, m % 2, n, 'hash'",
      10,
    ),
    each(
      "calls",
      `thread_id, run, number, tool_call_id, tool_name, phase, idempotency_key, arguments_hmac, epoch, begun_at,
        certain_at, settled_at`,
      `'thread ' || n, 1, m, 'call', 'tool', case when n % 100 = 0 then 'unknown' else 'settled' end, 'key', 'hmac', 1,
        n, n, n`,
      3,
    ),
    each(
      "requests",
      "id, thread_id, run, call, kind, tool_name, status, shown, binding, created_at",
      `'request ' || n || ' ' || m, 'thread ' || n, 1, m, 'approval', 'tool',
        case when n % 10 = 0 then 'pending' else 'settled' end, '{}', 'binding', n`,
      2,
    ),
    // On the file nobody would: SQLite plans without having counted.
    ...(driver.name === "postgres" ? [{ sql: "analyze", params: [] }] : []),
  ]);
}

function recordingDriver(driver: SqlDriver, used: Statement[]): SqlDriver {
  return {
    ...driver,
    all(sql, params = []) {
      used.push({ sql, params });
      return driver.all(sql, params);
    },
    batch(statements) {
      used.push(...statements);
      return driver.batch(statements);
    },
  };
}
