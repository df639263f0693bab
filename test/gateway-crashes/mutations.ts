// The promises of the gateway that are taken out of a copy of the product, one by one.
import { type Checked, checkEach, type Mutation } from "../survives-a-crash/check-mutations.ts";

/** Where a commit of a job is handed to the database. */
const commitJob = {
  file: "src/gateway/dispatch/commit/commit-execution.ts",
  from: "    return await unlessLost(() => deps.jobs.commit(written), control);",
};

const mutations: readonly Mutation[] = [
  {
    name: "a commit does not ask whose the lease is",
    edits: [
      {
        file: "src/backend/sql/gateway/commit-job.ts",
        from: `const mine = "where id = $1 and lease_by = $2 and epoch = $3";`,
        to: `const mine = "where id = $1 and cast($2 as text) is not null and cast($3 as bigint) is not null";`,
      },
    ],
    run: ["--database", "postgres", "--part", "leases"],
  },
  {
    name: "the plugins of a lost lease are not killed",
    edits: [
      {
        file: "src/gateway/dispatch/execute/job-source.ts",
        from: "    this.#isLost = true;\n    this.#abort.abort();",
        to: "    this.#isLost = true;",
      },
    ],
    run: ["--database", "postgres", "--part", "leases"],
  },
  {
    name: "the state of a plugin is stored before the jobs that its answer leads to, not with them",
    edits: [
      {
        ...commitJob,
        to: `    const { state: stored, ...rest } = written;
    if (stored) {
      await deps.pluginState.replace(stored.plugin, stored.sealed_state, stored.revision, stored.sealed_owners);
    }
    await deps.onCrashPoint("between state and jobs");
    return await unlessLost(() => deps.jobs.commit(rest), control);`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "worked example", "--point", "between state and jobs #1"],
  },
  {
    name: "a job ends before the jobs that it leads to are queued, not with them",
    edits: [
      {
        ...commitJob,
        to: `    const { children, contexts, ...rest } = written;
    const childless = { ...rest, children: [], contexts: [] };
    const outcome = await unlessLost(() => deps.jobs.commit(childless), control);
    await deps.onCrashPoint("between end and jobs");
    if (children.length > 0) await deps.jobs.enqueue(children, { contexts });
    return outcome;`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "order pipeline", "--point", "between end and jobs #1"],
  },
  {
    name: "an execution that was lost does not count as an attempt",
    edits: [
      {
        file: "src/backend/sql/gateway/claim-job.ts",
        from: "attempt = case when status = 'running' then attempt + 1 else attempt end,",
        to: "attempt = attempt,",
      },
    ],
    run: ["--database", "sqlite", "--scenario", "exhausted attempts", "--point", "after claim job #1"],
  },
  {
    name: "an agent does not hear of a tool that died in a crash",
    edits: [
      {
        file: "src/gateway/dispatch/commit/follow-ups.ts",
        from: `if (job.isAgent || job.step?.on_error === "none") return undefined;`,
        to: `if (job.isAgent || failure.status === "dead") return undefined;`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "exhausted attempts", "--point", "after claim job #1"],
  },
  {
    name: "a repeated turn goes on behind the trace of the lost one",
    edits: [
      {
        file: "src/gateway/agent/workspace/trace-file.ts",
        from: "const kept = await keptLength(file, stat.size, jobId);",
        to: "const kept = stat.size + 0 * (await keptLength(file, 0, jobId));",
      },
    ],
    run: ["--database", "sqlite", "--scenario", "worked example", "--point", "inside write trace.jsonl #1"],
  },
  {
    name: "the key of a start is not looked at",
    edits: [
      {
        file: "src/gateway/dispatch/commit/store-child.ts",
        from: "dedupe: identity === undefined ? null :",
        to: `dedupe: identity === undefined || child.submitted_by === "api" ? null :`,
      },
    ],
    run: ["--database", "sqlite", "--scenario", "worked example", "--point", "after enqueue job #1"],
  },
];

export async function checkMutations(url: string): Promise<readonly Checked[]> {
  return await checkEach(mutations, { matrix: "test/gateway-crashes/main.ts", url });
}
