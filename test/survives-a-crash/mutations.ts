// The proof that the matrix can fail: the product is copied, one of its promises is taken out of the copy, and the part
// of the matrix that watches over that promise is run against it. It has to be red.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

type Edit = { readonly file: string; readonly from: string; readonly to: string };

type Mutation = { readonly name: string; readonly edits: readonly Edit[]; readonly run: readonly string[] };

const mutations: readonly Mutation[] = [
  {
    name: "a commit does not ask whose the lease is",
    edits: [
      {
        file: "src/backend/sql/commit.ts",
        from: "where id = $1 and lease_by = $2 and epoch = $3 and next_seq = $4",
        to: "where id = $1 and cast($2 as text) is not null and cast($3 as bigint) is not null and next_seq = $4",
      },
    ],
    run: ["--database", "postgres", "--part", "sleeper"],
  },
  {
    name: "that a call begins is committed after it was made",
    edits: [
      {
        file: "src/threads/activation.ts",
        from: `      if (!batch.isEmpty || isOver)
        await this.#commit(held, run, batch, "running", isOver ? { dueAfter: 0 } : undefined);
      if (isOver) return false;
      batch = new Batch(held.from);`,
        to: `      const early = order.kind === "run_tool" ? await this.#perform(held, run, batch, order) : undefined;
      await this.#commit(held, run, batch, "running");
      batch = new Batch(held.from);
      if (early) {
        arrived = early;
        continue;
      }`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "three tools", "--point", "inside shop/charge #1"],
  },
  {
    name: "a thread is woken after its work was stored, not with it",
    edits: [
      {
        file: "src/backend/sql/inbox.ts",
        from: `        wake(threadId, entry),
        insertEntry(threadId, entry),
        tell(threadId, entry),
      ]);`,
        to: `        { sql: "update threads set inbox_seq = inbox_seq + 1 where id = $1", params: [threadId], expect: 1 },
        insertEntry(threadId, entry),
      ]);
      if (outcome === "committed") {
        await entry.between();
        await attemptBatch(driver, [wake(threadId, entry), tell(threadId, entry)]);
      }`,
      },
      {
        file: "src/threads/thread.ts",
        from: "const stored = await inbox.put(id, entry);",
        to: `const between = () => host.reached("between put and wake");
    const stored = await inbox.put(id, { ...entry, between });`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "plain answer", "--point", "between put and wake #1"],
  },
  {
    name: "a child is created before the outcome of the call is stored, not with it",
    edits: [
      {
        file: "src/threads/subagents/create-child.ts",
        from: "await buffer.write(...child.writes);",
        to: "await host.stores.writes.apply(thread.id, child.writes);",
      },
    ],
    run: ["--database", "sqlite", "--scenario", "queued child", "--point", "after effect run_tool #1"],
  },
  {
    name: "what a child came to is delivered after its end was stored, not with it",
    edits: [
      {
        file: "src/threads/activation.ts",
        from: "await this.#commit(held, run, batch, status, goesOn ? undefined : { dueAfter });\n    this.#run = undefined;",
        to: `const isTold = (write: string) => write === "answer" || write === "entry";
    const told = batch.writes.filter(({ write }) => isTold(write));
    batch.writes.splice(0, batch.writes.length, ...batch.writes.filter(({ write }) => !isTold(write)));
    await this.#commit(held, run, batch, status, goesOn ? undefined : { dueAfter });
    if (told.length > 0) {
      await this.#host.reached("between end and delivery");
      await this.#host.stores.writes.apply(held.thread.parent_id ?? "", told);
    }
    this.#run = undefined;`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "queued child", "--point", "between end and delivery #1"],
  },
  {
    name: "what an agent remembers is stored before the outcome of the call, not with it",
    edits: [
      {
        file: "src/threads/memory/remember.ts",
        from: "await of.scope.buffer.write(",
        to: `const { host, thread } = of.scope;
    await ((write: never) => host.stores.writes.apply(thread.id, [write]))(`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "memory tools", "--point", "after effect run_tool #1"],
  },
  {
    name: "what a run said is kept after its end was stored, not with it",
    edits: [
      {
        file: "src/threads/activation.ts",
        from: "await this.#commit(held, run, batch, status, goesOn ? undefined : { dueAfter });\n    this.#run = undefined;",
        to: `const kept = batch.writes.filter(({ write }) => write === "transcript");
    batch.writes.splice(0, batch.writes.length, ...batch.writes.filter((each) => !kept.includes(each)));
    await this.#commit(held, run, batch, status, goesOn ? undefined : { dueAfter });
    await this.#host.reached("between end and transcript");
    if (kept.length > 0) await this.#host.stores.writes.apply(held.id, kept);
    this.#run = undefined;`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "kept transcript", "--point", "between end and transcript #3"],
  },
];

export type Checked = {
  readonly name: string;
  /** What the matrix said about it. */
  readonly noticed?: string;
  /** That it said nothing, or could not be run. */
  readonly problem?: string;
};

export async function checkMutations(url: string): Promise<readonly Checked[]> {
  const checked: Checked[] = [];
  for (const mutation of mutations) checked.push({ name: mutation.name, ...(await check(mutation, url)) });
  return checked;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const copied = ["src", "test/survives-a-crash", "test/postgres.ts", "package.json"];

async function check({ edits, run }: Mutation, url: string): Promise<Omit<Checked, "name">> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-mutation-"));
  try {
    for (const path of copied) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await cp(join(root, path), join(folder, path), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(folder, "node_modules"), "dir");
    for (const edit of edits) await apply(edit, folder);
    const { code, output } = await runMatrix(folder, run, url);
    if (code === 0) return { problem: "nothing noticed it" };
    // A program that falls over ends with 1 as well; only one that says so has found something.
    if (code !== 1 || !output.includes("\nRED:")) return { problem: `it could not be tried:\n${output}` };
    const [, ...complaints] = output.split("\n").filter((line) => line.startsWith("  "));
    return { noticed: (complaints.find((line) => !line.includes(" at ")) ?? output).trim() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A change that finds nothing to change would prove nothing, so it fails loudly. */
async function apply({ file, from, to }: Edit, folder: string): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, "utf8");
  if (text.split(from).length !== 2) throw new Error(`${file} does not hold this text exactly once:\n${from}`);
  await writeFile(
    path,
    text.replace(from, () => to),
  );
}

async function runMatrix(folder: string, args: readonly string[], url: string) {
  const program = join(folder, "test/survives-a-crash/main.ts");
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, DATABASE_URL: url },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  await once(child, "close");
  return { code: child.exitCode, output };
}
