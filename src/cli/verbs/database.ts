// holdfast db …: migrate, check, backup, prune and move, for those who look after the database itself.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError, holdfastError } from "../../contracts/error.ts";
import type { Client } from "../client.ts";
import { shellWord } from "../command-here.ts";
import { type Database, fileOf, namedDatabase } from "../databases.ts";
import { whole } from "../read-option.ts";
import { Refusal } from "../refusal.ts";
import { table } from "../terminal.ts";
import type { Verb } from "../verb.ts";

const DAY_MS = 86_400_000;

export const databaseVerbs: readonly Verb[] = [
  {
    name: "db migrate",
    summary: "bring the database to the version of this program",
    async run({ terminal, project }) {
      const backend = (await project()).database();
      const { migrateDatabase } = await import("../../database.ts");
      const answer = {
        ...(await migrateDatabase(backend, (done, of) => terminal.progress(done, of, "versions"))),
        place: backend.place,
      };
      terminal.answer(answer, ({ from, to, place }) =>
        from === to ? `${place} has version ${to} already.` : `${place}: from version ${from} to ${to}.`,
      );
    },
  },
  {
    name: "db check",
    summary: "whether the database is whole, and what is in it; beside a running server too",
    async run({ terminal, project }) {
      const opened = await project();
      const [backend, { secretKey }] = [opened.database(), opened.project];
      const { checkDatabase } = await import("../../database.ts");
      const reader = await readerOf(backend);
      try {
        const answer = {
          place: backend.place,
          ...(await checkDatabase(backend, reader, { secretKey, onChecked: terminal.progress.bind(terminal) })),
        };
        terminal.answer(answer, ({ version, tables, unnamed, problems }) => [
          ...table([["TABLE", "ROWS"], ...tables.map((each) => [each.table, String(each.rows)])]),
          `Version ${version}. ${unnamed.contents} contents (${unnamed.bytes} bytes) are named by no file.`,
          ...(problems.length === 0 ? ["It is whole."] : problems),
        ]);
        if (answer.problems.length > 0) throw new Refusal({ code: "unhealthy", message: "The database is not whole." });
      } finally {
        await reader.close();
      }
    },
  },
  {
    name: "db backup",
    summary: "copy the database into a new file, while it is worked on",
    takes: { "<file>": "where to; it must not exist" },
    options: { "--include-key": "copy the secret key beside it; whoever has both can read everything" },
    examples: ["holdfast db backup backups/monday.db"],
    async run({ given, terminal, project, cwd }) {
      const backend = (await project()).database();
      const path = fileOf(backend);
      if (path === undefined) throw unsupported(backend);
      const includeKey = given.includeKey === true;
      const onProgress = (done: number, of: number) => terminal.progress(done, of, "pages");
      const { backupSqlite } = await import("../../backend/sqlite/backup.ts");
      const answer = await backupSqlite(path, resolve(cwd, String(given.file)), { includeKey, onProgress });
      terminal.answer(answer, ({ file, tables }) => {
        const rows = tables.reduce((sum, each) => sum + each.rows, 0);
        return `${file}: ${rows} rows of ${tables.length} tables, read again and whole.`;
      });
      if (!includeKey) terminal.note("It opens only with the secret key, which is not in it: keep that elsewhere.");
    },
  },
  {
    name: "db prune",
    summary: "delete threads that rest, runs that have ended, and bytes that no file names any more",
    options: {
      "--idle <days>": "how long threads rest, and runs of workflows have ended, at least",
      "--files": "only the bytes, and no thread or run",
      "--dry-run": "only tell what would go",
    },
    async run({ given, terminal, client }) {
      const days = whole("--idle", given.idle);
      if ((days === undefined) === (given.files !== true)) {
        const message = "Say either with --idle for how many days threads rest, or --files to delete none.";
        throw new Refusal({ code: "usage", message });
      }
      if (days === 0) throw new Refusal({ code: "usage", message: "--idle must be a day or more." });
      const dry_run = given.dryRun === true;
      const runtime = await client();
      const idle = days === undefined ? undefined : { idle_ms: days * DAY_MS, dry_run };
      const pruned = async (what: "threads" | "workflow-runs") => {
        const onProgress = (done: number, of: number) => terminal.progress(done, of, what);
        return idle ? await prune(runtime, what, idle, onProgress) : [];
      };
      const [threads, runs] = [await pruned("threads"), await pruned("workflow-runs")];
      const files = await runtime.call<{ contents: number; bytes: number }>("holdfast/prune-files", { dry_run });
      terminal.answer({ dry_run, threads, runs, ...files }, ({ contents, bytes }) => {
        const verb = dry_run ? "would be" : "were";
        return [
          ...[...threads, ...runs].map((id) => `${dry_run ? "would delete" : "deleted"} ${id}`),
          `${threads.length} threads and ${runs.length} runs of workflows ${verb} deleted, ${contents} contents (${bytes} bytes) ${verb} removed.`,
        ];
      });
    },
  },
  {
    name: "db move",
    summary: "move everything to another database, waiting threads in their place; the old one refuses from then on",
    options: {
      "--to <database>": "a path that does not exist yet, or a postgres:// URL with an empty schema",
      "--from <database>": "the same for the old one; the project's database unless given",
      "--schema <name>": "the schema of the database that is named by a URL; holdfast unless given",
    },
    examples: ["holdfast db move --to postgres://app@db.internal/app", "holdfast db move --to copy.db --from …"],
    async run({ given, terminal, project, cwd, signal }) {
      const { schema } = given;
      const to = await namedDatabase(given.to, { flag: "--to", schema, cwd });
      const opened = await project();
      const { secretKey } = opened.project;
      const named = given.from !== undefined;
      const from = named ? await namedDatabase(given.from, { flag: "--from", schema, cwd }) : opened.database();
      checkThere(from);
      const onProgress = terminal.progress.bind(terminal);
      const { moveDatabase } = await import("../../database.ts");
      const moved = await moveDatabase({ from, to, secretKey, signal, onProgress }).catch((thrown: unknown) => {
        throw keyIsMissing(thrown) ? withOldKey(thrown, from) : thrown;
      });
      terminal.answer({ from: from.place, to: to.place, ...moved }, ({ rows, tables }) => [
        ...(tables.length === 0 ? [] : checksums(tables)),
        `${rows} rows of ${tables.length} tables are in ${to.place}, and the same on both sides.`,
      ]);
      terminal.note(`${from.place} refuses from now on. ${pointing(to)}`);
    },
  },
];

type Idle = { readonly idle_ms: number; readonly dry_run: boolean };

/** In parts: one request for all of them would tell nothing until its end. */
async function prune(
  runtime: Pick<Client, "call">,
  what: "threads" | "workflow-runs",
  idle: Idle,
  onProgress: (done: number, of: number) => void,
): Promise<readonly string[]> {
  const ask = (more: object) =>
    runtime.call<{ deleted: string[]; next?: string }>(`holdfast/prune-${what}`, { ...idle, ...more });
  const { deleted: found } = await ask({ dry_run: true });
  if (idle.dry_run) return found;
  const deleted: string[] = [];
  for (let done = 0, more: object = {}; ; done += PRUNED_AT_ONCE) {
    onProgress(Math.min(done, found.length), found.length);
    const part = await ask({ limit: PRUNED_AT_ONCE, ...more });
    deleted.push(...part.deleted);
    if (part.next === undefined) return deleted;
    more = { after: part.next };
  }
}

const PRUNED_AT_ONCE = 100;

async function readerOf(backend: Database) {
  const path = fileOf(backend);
  if (path === undefined) return await backend.open();
  const { sqliteReader } = await import("../../backend/sqlite/read-only.ts");
  return sqliteReader(path);
}

/** Opening it would make it, and a misspelt name would be an empty database that was moved. */
function checkThere(database: Database): void {
  const path = fileOf(database);
  if (path === undefined || existsSync(path)) return;
  throw holdfastError("database_path_invalid", `There is no file "${path}".`);
}

function keyIsMissing(thrown: unknown): thrown is HoldfastError {
  return thrown instanceof HoldfastError && thrown.code === "secret_key_missing";
}

/** What is sealed is moved as it is: a new key would open nothing of it. */
function withOldKey({ code, detail }: HoldfastError, { keyFile }: Database): Refusal {
  const hint =
    keyFile !== undefined && existsSync(keyFile)
      ? `It is opened with the key of the old one: export HOLDFAST_SECRET_KEY=$(cat ${shellWord(keyFile)})`
      : "Set HOLDFAST_SECRET_KEY to the key that the old database was begun with; a new one opens nothing of it.";
  return new Refusal({ code, message: detail }, hint);
}

function unsupported({ name, place }: Database): Error {
  if (name === "sqlite") return holdfastError("backup_unsupported", "A database in memory cannot be backed up.");
  return holdfastError(
    "backup_unsupported",
    `${place} is backed up with pg_dump --schema and the name of the schema; keep HOLDFAST_SECRET_KEY too, elsewhere.`,
  );
}

function checksums(tables: readonly { table: string; rows: number; checksum: string }[]): readonly string[] {
  const rows = tables.map((each) => [each.table, String(each.rows), each.checksum]);
  return table([["TABLE", "ROWS", "CHECKSUM"], ...rows]);
}

function pointing({ name }: Database): string {
  return name === "postgres"
    ? "Start with DATABASE_URL set to the new one, or name it in the configuration."
    : "Start with --data set to its folder where it is named holdfast.db, or name it in the configuration.";
}
