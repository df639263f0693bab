// Promise: an approval that waits survives its process. The example is played as a person would, with a kill -9 where its
// session says so, on a file and on a server.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { emptySchema, query } from "./postgres.ts";

const example = (file: string) => fileURLToPath(new URL(`../examples/approval-survives/${file}`, import.meta.url));

/** The environment that names a database of its own, which is gone with the test. */
const databases: Readonly<Record<string, () => Promise<NodeJS.ProcessEnv>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => {
    const { url } = await emptySchema();
    const name = `test_${randomBytes(6).toString("hex")}`;
    await query(url, `create database ${name}`);
    onTestFinished(() => query(url, `drop database ${name} with (force)`).then(() => {}));
    const own = new URL(url);
    own.pathname = name;
    return { DATABASE_URL: own.href, HOLDFAST_SECRET_KEY: "5ec4e7".padEnd(64, "0") };
  },
};

describe.each(Object.keys(databases))("an approval that waits, on %s", (database) => {
  it("survives every kill, is decided by the next process, and the tool runs once", async () => {
    const shell = await newShell(database);

    for (const { words, output, isKilled } of readSession(example("output.txt"))) {
      const process = shell.run(words);
      expect(await process.prints(output.length)).toEqual(output);
      if (isKilled) await process.kill();
      else expect(await process.end()).toEqual({ code: 0, signal: null, more: [] });
    }

    expect(shell.refunds()).toEqual([expect.stringMatching(/^7 1200 hf_\w{40}$/)]);
  });

  it("can be refused after a kill, and then the tool never runs", async () => {
    const shell = await newShell(database);
    const first = shell.run([]);
    await first.prints(1);
    await first.kill();

    expect(await shell.run(["reject"]).end()).toMatchObject({ code: 0, more: ["completed: I cannot refund that."] });

    expect(shell.refunds()).toEqual([]);
  });
});

describe("on PostgreSQL", () => {
  it("somebody decides in another process while the one that asked still waits", async () => {
    const shell = await newShell("PostgreSQL");
    await shell.run([]).prints(2);

    expect(await shell.run(["approve"]).end()).toMatchObject({ more: ["completed: You have your 12 euros back."] });

    expect(shell.refunds()).toHaveLength(1);
  });
});

type Command = { readonly words: readonly string[]; readonly output: readonly string[]; readonly isKilled: boolean };

/** A session of a shell: a command after each `$`, then what it prints, and `Killed` where it does not end by itself. */
function readSession(path: string): readonly Command[] {
  const commands = readFileSync(path, "utf8").trimEnd().split(/^\$ /m).slice(1);
  return commands.map((text) => {
    const [command = "", ...lines] = text.trimEnd().split("\n");
    const words = command
      .replace(/^node main\.ts ?/, "")
      .split(" ")
      .filter(Boolean);
    return { words, output: lines.filter((line) => line !== "Killed"), isKilled: lines.at(-1) === "Killed" };
  });
}

/** A folder in which the example is run. */
async function newShell(database: string) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { DATABASE_URL: _url, HOLDFAST_SECRET_KEY: _key, ...inherited } = process.env;
  const env = { ...inherited, ...(await databases[database]?.()) };
  return {
    run: (words: readonly string[]) =>
      follow(spawn(process.execPath, [example("main.ts"), ...words], { cwd: folder, env })),
    refunds() {
      const books = join(folder, "refunds.txt");
      return existsSync(books) ? readFileSync(books, "utf8").trimEnd().split("\n") : [];
    },
  };
}

function follow(child: ChildProcess) {
  if (!child.stdout) throw new Error("A process without an output cannot say anything.");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  child.stderr?.pipe(process.stderr);
  const kill = async () => {
    child.kill("SIGKILL");
    expect(await ended).toEqual({ code: null, signal: "SIGKILL" });
  };
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) await kill();
  });
  return {
    kill,
    /** The next lines that it prints. */
    async prints(count: number): Promise<string[]> {
      const printed = [];
      while (printed.length < count) printed.push(String((await lines.next()).value));
      return printed;
    },
    /** How it ended by itself, and what it printed until then. */
    async end() {
      const more = [];
      for await (const line of { [Symbol.asyncIterator]: () => lines }) more.push(line);
      return { ...(await ended), more };
    },
  };
}
