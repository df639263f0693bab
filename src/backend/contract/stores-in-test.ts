// What the contract suites of the stores work on: a database that was opened for one test, and ways to get a thread into
// the condition that a test is about.

import { onTestFinished } from "vitest";
import type { Claimed, Held } from "../engine.ts";
import type { Row, SqlDriver } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import type { NewThread } from "../thread-store.ts";
import { anEntry, aThread, MINUTE } from "./a-commit.ts";

/** Whoever opens it sees to it that it is closed after the test. */
export type StoresInTest = {
  readonly stores: Stores;
  /** For what the stores do not show: signals, and every row that there is. */
  readonly driver: SqlDriver;
  /** The same data through another driver, such as one that loses answers. */
  storesOn(driver: SqlDriver): Promise<Stores>;
  /** Another process on the same data; absent where a database has only one. */
  readonly openSecond?: () => Promise<StoresInTest>;
};

export const WORKER = "worker 1";

/** Takes up to so many due threads. With a lease that is over at once, others may take them again without waiting. */
export async function claim(
  { engine }: Stores,
  {
    worker = WORKER,
    agents = ["support"],
    state_version = 1,
    limit = 100,
    lease_us = MINUTE,
    except = [] as readonly string[],
  } = {},
): Promise<readonly Claimed[]> {
  return await engine.claim({ worker, agents, state_version, limit, lease_us, except });
}

export async function nextDue(
  { engine }: Stores,
  { agents = ["support"], state_version = 1 } = {},
): Promise<number | null> {
  return await engine.nextDue({ agents, state_version });
}

export async function openThread({ threads }: Stores, parts: Partial<NewThread> = {}): Promise<string> {
  const { thread } = await threads.open(aThread(parts));
  return thread.id;
}

/** A thread with one entry in its inbox. */
export async function dueThread(stores: Stores, parts: Partial<NewThread> = {}): Promise<string> {
  const id = await openThread(stores, parts);
  await stores.inbox.put(id, anEntry());
  return id;
}

/** A thread with one entry in its inbox that the worker holds. */
export async function heldThread(stores: Stores, parts: Partial<NewThread> = {}): Promise<Held> {
  const id = await dueThread(stores, parts);
  const claimed = await claim(stores, { agents: [parts.agent ?? "support"] });
  const own = claimed.find((each) => each.id === id);
  if (!own) throw new Error(`Thread ${id} could not be taken.`);
  return { id, epoch: own.epoch, wake_rev: 1 };
}

/** Every table that holds something; what one test leaves there is erased before the next. */
export const TABLES = [
  "threads",
  "answers",
  "inbox",
  "messages",
  "events",
  "runs",
  "calls",
  "requests",
  "live_text",
  "budgets",
  "workers",
  "thread_arguments",
  "thread_subjects",
  "session_shares",
  "files",
  "blobs",
  "thread_values",
  "user_values",
  "variables",
  "effects",
  "tokens",
  "grants",
  "approval_memory",
  "pending_actions",
  "memories",
  "guidelines",
  "audit_checkpoints",
  "audit_heads",
  "audit_latest",
  "audit_tombstones",
  "sessions",
  "session_messages",
  "identities",
  "channel_sessions",
  "inbound_messages",
  "bridge_clients",
  "bridge_items",
  "outcomes",
  "switches",
  "workflow_runs",
  "workflow_run_tags",
  "workflow_steps",
  "gateway_control",
  "gateway_pauses",
  "gateway_jobs",
  "gateway_logged_jobs",
  "gateway_payloads",
  "gateway_trees",
  "gateway_dedupe",
  "gateway_contexts",
  "gateway_attempts",
  "gateway_events",
  "gateway_plugin_state",
  "gateway_facts",
  "gateway_schedules",
  "gateway_breakers",
];

/** Every row of every table, so that a test can tell that nothing was written. */
export async function everything(driver: SqlDriver): Promise<Record<string, readonly Row[]>> {
  const tables = await Promise.all(
    TABLES.map(async (table) => {
      const rows = await driver.all(`select * from ${table}`);
      return [table, [...rows].sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))] as const;
    }),
  );
  return Object.fromEntries(tables);
}

/** For a database that many tests share, one after another. */
export async function eraseEverything(driver: SqlDriver): Promise<void> {
  await driver.batch(TABLES.map((table) => ({ sql: `delete from ${table}`, params: [] })));
}

/** Collects what is signalled from now on, and nothing that is still on its way. */
export async function heardOn(driver: SqlDriver): Promise<{ all(): Promise<readonly string[]> }> {
  const texts: string[] = [];
  let wake = () => {};
  onTestFinished(
    driver.listen((text) => {
      texts.push(text);
      wake();
    }),
  );

  /** Everything that was heard until now: signals come in the order of their commits, so a last one ends them. */
  async function all(): Promise<readonly string[]> {
    const last = crypto.randomUUID();
    await driver.batch([{ sql: "select signal($1)", params: [last] }]);
    while (!texts.includes(last)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return texts.splice(0).filter((text) => text !== last);
  }

  await all();
  return { all };
}
