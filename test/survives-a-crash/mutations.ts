// The promises of threads that are taken out of a copy of the product, one by one.
import { type Checked, checkEach, type Mutation } from "./check-mutations.ts";

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
        to: `const between = () => host.onCrashPoint("between put and wake");
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
      await this.#host.onCrashPoint("between end and delivery");
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
    await this.#host.onCrashPoint("between end and transcript");
    if (kept.length > 0) await this.#host.stores.writes.apply(held.id, kept);
    this.#run = undefined;`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "kept transcript", "--point", "between end and transcript #3"],
  },
];

export async function checkMutations(url: string): Promise<readonly Checked[]> {
  return await checkEach(mutations, { matrix: "test/survives-a-crash/main.ts", url });
}
