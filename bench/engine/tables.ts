// The tables that every contestant works on: threads that have steps to make, the steps made, and messages from outside.
import type { Pool } from "pg";

const TABLES = `
  create table threads (
    id integer primary key,
    next_step integer not null default 1,
    remaining integer not null
  );
  create table steps (
    thread_id integer not null,
    step integer not null,
    worker integer not null,
    begun_us double precision not null,
    ended_us double precision not null,
    primary key (thread_id, step)
  );
  -- Steps whose commit was refused because another worker had made the same step meanwhile: work done twice.
  create table refused (like steps);
  create table messages (
    id bigint generated always as identity primary key,
    thread_id integer not null,
    seen_by_step integer
  );
  create index messages_unseen on messages (thread_id) where seen_by_step is null;
`;

export async function createTables(pool: Pool): Promise<void> {
  await pool.query(TABLES);
}

/** Empty tables, then threads with as many planned steps each, numbered from 1, and threads that have none. */
export async function createThreads(pool: Pool, count: number, planned: number, parked = 0): Promise<number[]> {
  await pool.query("truncate threads, steps, refused, messages");
  await pool.query(
    `insert into threads (id, remaining)
     select id, case when id <= $1 then $2::integer else 0 end from generate_series(1, $1::integer + $3) as id`,
    [count, planned, parked],
  );
  await pool.query("vacuum analyze threads");
  return Array.from({ length: count }, (_, index) => index + 1);
}
