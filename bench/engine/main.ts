// Durable threads on job queue libraries and on columns of their own row: speed, lost wake-ups, and what a crash leaves.
import { writeFile } from "node:fs/promises";
import pg from "pg";
import { startPostgres } from "../../test/postgres.ts";
import { measureCrash } from "./crash.ts";
import type { Database, Engine } from "./engine.ts";
import { engines } from "./engines.ts";
import { page, type Result, table } from "./report.ts";
import { measureSpeed, type Speed } from "./speed.ts";
import { createTables } from "./tables.ts";
import { measureWakeUps } from "./wake-ups.ts";

const isQuick = process.argv.includes("--quick");
const size = {
  rounds: isQuick ? 1 : 3,
  load: { threads: isQuick ? 50 : 200, steps: 10, parked: 5_000 },
  burst: { threads: isQuick ? 100 : 500, messages: 3 },
  patienceMs: isQuick ? 15_000 : 60_000,
};

const server = await startPostgres();
try {
  const results = await measureAll();
  console.log(table(results));
  if (!isQuick) await writeFile(new URL("RESULTS.md", import.meta.url), page(results, size, await serverVersion()));
} finally {
  await server.stop();
}

async function measureAll(): Promise<Result[]> {
  const races = [];
  for (const [index, engine] of engines.entries()) {
    const database = await freshDatabase(engine, `race_${index}`);
    const parked = Array.from({ length: size.load.parked }, (_, count) => size.load.threads + 1 + count);
    await engine.leaveParked(database, parked);
    races.push({ engine, database, speeds: [] as Speed[] });
  }
  // In turns, so that a busy moment of the machine slows all of them alike, and never two at a time.
  for (let round = 1; round <= size.rounds; round++) {
    for (const { engine, database, speeds } of races) {
      console.error(`speed, round ${round} of ${size.rounds}: ${engine.name}`);
      speeds.push(await measureSpeed(engine, database, size.load));
    }
  }
  const woken = [];
  for (const { engine, database, speeds } of races) {
    console.error(`wake-ups: ${engine.name}`);
    woken.push({ engine, speeds, wakeUps: await measureWakeUps(engine, database, size.burst) });
    await database.pool.end();
  }
  console.error("crash: all at once, since they mostly wait");
  return Promise.all(
    woken.map(async (race, index) => {
      const database = await freshDatabase(race.engine, `crash_${index}`);
      const crash = await measureCrash(race.engine, database, size.patienceMs);
      await database.pool.end();
      return { ...race, crash };
    }),
  );
}

async function freshDatabase(engine: Engine, name: string): Promise<Database> {
  const full = `holdfast_engine_${name}`;
  await asAdministrator(`drop database if exists ${full} with (force)`);
  await asAdministrator(`create database ${full}`);
  const url = new URL(server.url);
  url.pathname = `/${full}`;
  const database = { url: url.href, pool: new pg.Pool({ connectionString: url.href }) };
  await createTables(database.pool);
  await engine.prepare(database);
  return database;
}

async function serverVersion(): Promise<string> {
  const [row] = await asAdministrator("show server_version");
  return String(row?.server_version);
}

async function asAdministrator(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}
