// Fills a SQLite database with as many messages as wanted, by copying rows that Holdfast has written: many short threads,
// and a very long one.
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { type Agent, agent, type Holdfast, tool } from "../../src/index.ts";
import { compacted } from "./null-agent.ts";
import { openRuntime } from "./open-runtime.ts";

const SHORT_TURNS = 5;
const LONG_TURNS = 60;
/** The share of all messages that stands in one thread. */
const LONG_SHARE = 0.1;

/** The key of the very long thread. */
export const LONG = "long";
/** The keys of the short ones, counted from 0. */
export const shortKey = (index: number) => `short-${index}`;

/** Calls a tool as often as its last message from a user says, so that it needs to count nothing. */
export function countingAgent(): Agent {
  const nothing = tool({ name: "bench/nothing", description: "Does nothing.", execute: () => ({ done: true }) });
  return agent({
    ...compacted,
    slug: "counter",
    maxTurns: LONG_TURNS + 1,
    tools: [nothing],
    model: (messages, _context, { step = 0 }) => {
      const asked = messages.findLastIndex(({ type, role }) => type === "text" && role === "user");
      const turns = Number(messages[asked]?.content);
      const made = messages.slice(asked).filter(({ type }) => type === "tool_result").length;
      if (made >= turns) return { content: "Done.", tool_calls: [] };
      return { content: "", tool_calls: [{ name: "bench/nothing", parameters: { step } }] };
    },
  });
}

export type Filled = { readonly messages: number; readonly shortThreads: number };

export async function fill(path: string, messages: number): Promise<Filled> {
  const holdfast = await openRuntime(sqlite(path, { synchronous: "normal" }), [countingAgent()]);
  await run(holdfast, "template", SHORT_TURNS);
  // In several goes, as in a conversation, so that what is compacted is not what the run itself still needs.
  for (let turns = 0; turns < LONG_TURNS; turns += SHORT_TURNS) await run(holdfast, LONG, SHORT_TURNS);
  await holdfast.close();

  const database = new DatabaseSync(path);
  try {
    database.exec("pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -400000");
    database.exec("begin");
    stretchLongThread(database, Math.round(messages * LONG_SHARE));
    const perThread = count(
      database,
      "messages",
      "where thread_id = (select id from threads where thread_key = 'template')",
    );
    const shortThreads = Math.round((messages * (1 - LONG_SHARE)) / perThread);
    copyShortThread(database, shortThreads);
    database.exec("commit");
    return { messages: count(database, "messages"), shortThreads };
  } finally {
    database.close();
  }
}

async function run(holdfast: Holdfast, key: string, turns: number): Promise<void> {
  const thread = await holdfast.threads.open(key, { agent: "counter" });
  const { status } = await thread.send(String(turns));
  if (status !== "completed") throw new Error(`The thread ${key} ended as ${status}.`);
}

/** Puts copies of its own rows before the rows of the long thread, as if it had begun that much earlier. */
function stretchLongThread(database: DatabaseSync, messages: number): void {
  const long = `(select id from threads where thread_key = '${LONG}')`;
  const own = count(database, "messages", `where thread_id = ${long}`);
  const events = count(database, "events", `where thread_id = ${long}`);
  const copies = Math.ceil((messages - own) / own);
  if (copies <= 0) return;
  const [more, moreEvents] = [copies * own, copies * events];
  const columns = (table: string) => names(database, table);
  database.exec(`
    update messages set seq = seq + ${more} where thread_id = ${long};
    update events set seq = seq + ${moreEvents}, messages_from = messages_from + ${more},
      messages_to = messages_to + ${more}, tail_from = tail_from + ${more}, summary_seq = summary_seq + ${more}
      where thread_id = ${long};
    update threads set next_seq = next_seq + ${moreEvents}, next_message = next_message + ${more},
      tail_from = tail_from + ${more}, summary_seq = summary_seq + ${more} where thread_key = '${LONG}';
    create temp table number as with recursive n (value) as (select 0 union all select value + 1 from n
      where value + 1 < ${copies}) select value from n;
    create temp table own_message as select * from messages where thread_id = ${long};
    create temp table own_event as select * from events where thread_id = ${long};
    insert into messages (${columns("messages")})
      select ${columns("messages").replace(/\bseq\b/, `seq - ${more} + value * ${own}`)} from number cross join own_message;
    insert into events (${columns("events")})
      select ${columns("events").replace(/\bseq\b/, `seq - ${moreEvents} + value * ${events}`)} from number cross join own_event;
    drop table number; drop table own_message; drop table own_event`);
}

/** Every row of the template again for each new thread; ids are as random as real ones. */
function copyShortThread(database: DatabaseSync, copies: number): void {
  const template = "(select id from threads where thread_key = 'template')";
  database.exec(`
    create temp table copy as with recursive n (value) as (select 0 union all select value + 1 from n
      where value + 1 < ${copies})
      select value, lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
        || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))) as copy_id from n order by copy_id`);
  const asCopied: Readonly<Record<string, string>> = {
    thread_key: "'short-' || value",
    created_at: "created_at + value",
  };
  for (const table of ["threads", "inbox", "messages", "events", "runs", "calls"]) {
    const owner = table === "threads" ? "id" : "thread_id";
    const columns = names(database, table);
    const values = columns
      .split(", ")
      .map((name) => (name === owner ? "copy_id" : (asCopied[name] ?? `source.${name}`)));
    database.exec(`insert into ${table} (${columns}) select ${values.join(", ")} from copy
      cross join (select * from ${table} where ${owner} = ${template}) as source`);
  }
  database.exec("drop table copy");
}

function names(database: DatabaseSync, table: string): string {
  const rows = database.prepare("select name from pragma_table_info(?)").all(table);
  return rows.map(({ name }) => name).join(", ");
}

function count(database: DatabaseSync, table: string, where = ""): number {
  return Number(database.prepare(`select count(*) as n from ${table} ${where}`).get()?.n);
}
