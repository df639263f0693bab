// Plugins that are processes of their own: what they print and how they end decides what becomes of their jobs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JobView } from "../../src/gateway/gateway.ts";
import { eventually } from "../eventually.ts";
import { isRunning, pluginRoot, shell, writePlugin, writtenPids } from "../plugin-folders.ts";
import { api, inShort, newFolder, openGateway } from "./gateway-world.ts";

/** A gateway with one plugin, a script. */
async function scripted(script: string, more: object = {}, config: object = {}) {
  const root = pluginRoot();
  writePlugin(root, "tool", { script });
  const tool = { retry: { max_attempts: 2, backoff_base: "1ms" }, ...more };
  const world = await openGateway({ config: { plugin_roots: [root], plugins: { tool }, ...config } });
  const call = async () => {
    const { job_ids } = await world.gateway.call("tool", "handle", { payload: {} }, api);
    const tree = await world.endedTree(job_ids[0]);
    const { attempts } = await world.gateway.jobs.details(job_ids[0] ?? "");
    return { job: tree[0], attempts };
  };
  return { ...world, call };
}

/** A valid answer with everything that could take effect, and the state that each execution was shown. */
async function exitingWith3(config: object) {
  const answer = { status: "ok", result: "Well.", state_updates: { a: 1 }, events: [{ type: "mail" }] };
  const requests = join(newFolder(), "requests");
  const script = shell(`cat >> ${requests}`, `echo '${JSON.stringify(answer)}'`, "exit 3");
  const pipelines = [{ name: "mail", on: "mail", steps: [{ uses: "echo" }] }];
  const world = await scripted(script, {}, { pipelines, ...config });
  const seen = () => readLines(requests).map((line) => JSON.parse(line).state);
  return { ...world, seen };
}

/** In the order in which they were queued, each once the one before has ended. */
function expectOneAtATime(jobs: readonly JobView[]): void {
  for (const [index, job] of jobs.entries()) {
    expect(job.started_at).toBeGreaterThanOrEqual(jobs[index - 1]?.completed_at ?? 0);
  }
}

const readLines = (file: string) => readFileSync(file, "utf8").trim().split("\n");

describe("a process", () => {
  it("is told of in the event stream, once per attempt, between the start of its job and the end", async () => {
    const { call, stream } = await scripted(shell(`echo '{"status":"error","error":"Not now."}'`));
    const { job } = await call();
    const about = { job_id: job?.id, plugin: "tool", command: "handle" };
    const attempt = (number: number, end: string) => [
      { type: "job.started", data: { ...about, attempt: number } },
      { type: "plugin.spawned", data: { ...about, attempt: number } },
      { type: end },
    ];
    expect(await stream()).toMatchObject([
      { type: "job.enqueued" },
      ...attempt(1, "job.retry_scheduled"),
      ...attempt(2, "job.retry_exhausted"),
      { type: "job.failed" },
    ]);
  });

  it("that cannot be started is not told of as one that was", async () => {
    const root = pluginRoot();
    writePlugin(root, "tool", { script: "#!/no/such/interpreter\n" });
    const { gateway, endedTree, stream } = await openGateway({
      config: { plugin_roots: [root], plugins: { tool: { retry: { max_attempts: 1 } } } },
    });
    const { job_ids } = await gateway.call("tool", "handle", { payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["tool failed spawn_error"]);
    expect((await stream()).map(({ type }) => type)).not.toContain("plugin.spawned");
  });

  it.each([
    ["half an answer", `printf '{"status":"ok"'`, '{"status":"ok"'],
    ["nothing", "true", null],
    ["two answers", `echo '{"status":"ok","result":"a"}{"status":"ok","result":"b"}'`, expect.stringContaining("}{")],
    ["an unknown status", `echo '{"status":"maybe"}'`, '{"status":"maybe"}\n'],
    ["an error without text", `echo '{"status":"error"}'`, '{"status":"error"}\n'],
  ])("scenario 38: that prints %s fails, is tried again, and what it printed is kept", async (_what, line, printed) => {
    const { call } = await scripted(shell(line));
    const { job, attempts } = await call();
    expect(job).toMatchObject({ status: "failed", reason: "spawn_error", attempt: 2 });
    expect(attempts).toMatchObject(Array(2).fill({ outcome: "failed", reason: "spawn_error", response: printed }));
  });

  it("scenario 38: that answers ok and exits with 3 has failed, is tried again, and nothing of it is applied", async () => {
    const { call, gateway, seen } = await exitingWith3({});
    const { job, attempts } = await call();
    expect(job).toMatchObject({ status: "failed", reason: "nonzero_exit", attempt: 2 });
    expect(attempts).toMatchObject(Array(2).fill({ exit_code: 3 }));
    expect(seen()).toEqual([{}, {}]);
    expect(inShort(await gateway.jobs.list({ limit: 9 }))).toEqual(["tool failed nonzero_exit #2"]);
  });

  it("that answers ok and exits with 3 has succeeded where exit_code_policy says envelope, with a warning", async () => {
    const { call, gateway, seen, logs } = await exitingWith3({ service: { exit_code_policy: "envelope" } });
    for (let time = 0; time < 2; time++) expect((await call()).job).toMatchObject({ status: "succeeded", attempt: 1 });
    expect(seen()).toEqual([{}, { a: 1 }]);
    expect(inShort(await gateway.jobs.list({ plugin: "echo", limit: 9 }))).toEqual(Array(2).fill("echo succeeded"));
    expect(logs).toMatchObject(Array(2).fill({ level: "warn", plugin: "tool", message: expect.stringContaining("3") }));
  });

  it.each(["strict", "envelope"])(
    "scenario 37: that exits with 78 has failed for good at its first attempt, also where exit_code_policy says %s",
    async (exit_code_policy) => {
      const script = shell(`echo '{"status":"ok","result":"Well."}'`, "exit 78");
      const { call } = await scripted(script, {}, { service: { exit_code_policy } });
      expect((await call()).job).toMatchObject({ status: "failed", reason: "exit_code_78", attempt: 1 });
    },
  );

  it("scenario 39: that writes 11 MiB has failed; one that writes 1 MiB to stderr has not, and 64 KiB are kept", async () => {
    const flood = await scripted(shell("head -c 11534336 /dev/zero | tr '\\0' x"), { retry: { max_attempts: 1 } });
    expect((await flood.call()).job).toMatchObject({ status: "failed", reason: "spawn_error" });
    const chatty = await scripted(
      shell("head -c 1048576 /dev/zero | tr '\\0' x >&2", `echo '{"status":"ok","result":"Well."}'`),
    );
    const { job, attempts } = await chatty.call();
    expect(job).toMatchObject({ status: "succeeded", result: "Well." });
    expect(attempts[0]?.stderr).toHaveLength(65_536);
  });

  it("scenario 34: of a run never runs beside another one, and the jobs of two runs interleave", async () => {
    const root = pluginRoot();
    for (const name of ["reader", "writer"]) writePlugin(root, name);
    const { gateway, untilIdle } = await openGateway({
      ...{ tools: ["reader", "writer"], config: { plugin_roots: [root] } },
      script: [{ tool: "reader" }, { tool: "writer" }, { decision: "done", outcome: "Both are done." }],
    });
    await gateway.pause("test");
    for (const run_id of ["R1", "R2"]) await gateway.runs.start({ goal: "Go.", run_id }, api);
    await gateway.resume();
    await untilIdle();
    expect((await gateway.runs.list()).map(({ status }) => status)).toEqual(["done", "done"]);
    const jobs = (await gateway.jobs.list({ limit: 20 })).toReversed();
    const first = jobs[0]?.root_job_id;
    expect(jobs.map(({ plugin, root_job_id }) => `${root_job_id === first ? "R1" : "R2"} ${plugin}`)).toEqual(
      ["agentic-loop", "reader", "agentic-loop", "writer", "agentic-loop"].flatMap((each) => [
        `R1 ${each}`,
        `R2 ${each}`,
      ]),
    );
    expectOneAtATime(jobs);
  });

  it("that is cancelled is killed, with what it has started", async () => {
    const pids = join(newFolder(), "pids");
    const { gateway, endedTree } = await scripted(shell("sleep 1000 &", `echo $$ $! > ${pids}`, "wait"));
    const { job_ids } = await gateway.call("tool", "handle", { payload: {} }, api);
    const [own = 0, child = 0] = await eventually(() => {
      const written = writtenPids(pids);
      expect(written).toHaveLength(2);
      return written;
    });
    await gateway.jobs.cancel(job_ids[0] ?? "", "user:1");
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["tool dead cancelled"]);
    await eventually(() => expect([own, child].filter(isRunning)).toEqual([]));
  });

  it("whose gateway closes is killed as well, and its job is run again by the next", async () => {
    const pids = join(newFolder(), "pids");
    const { gateway, holdfast } = await scripted(shell(`echo $$ > ${pids}`, "sleep 1000"));
    await gateway.call("tool", "handle", { payload: {} }, api);
    const [pid = 0] = await eventually(() => {
      const written = writtenPids(pids);
      expect(written).toHaveLength(1);
      return written;
    });
    await holdfast.close();
    await eventually(() => expect(isRunning(pid)).toBe(false));
  });
});
