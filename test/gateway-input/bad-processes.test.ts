// Processes that do not end, or leave others behind: the job ends, the group is gone, the next job runs.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DRAIN_MS, GRACE_MS } from "../../src/gateway/plugins/process/run-process.ts";
import type { Spawn } from "../../src/gateway/plugins/process/start-process.ts";
import { eventually } from "../eventually.ts";
import { newFolder, once, serveGateway } from "../gateway-doors/served-gateway.ts";
import { heldAfter } from "../held-after.ts";
import { isRunning, node, type PluginFiles, shell, writtenPids } from "../plugin-folders.ts";
import { injectedPlugins } from "./held-plugins.ts";

const good: PluginFiles = { script: shell(`echo '{"status":"ok","result":"good"}'`) };
const DEADLINE_MS = 77_000;
const DONE = `echo '{"status":"ok","result":"done"}'`;

/** A gateway with a plugin whose deadlines go off when the test says so; it writes process ids into a file. */
async function heldGateway(script: (file: string) => string) {
  const file = join(newFolder(), "pids");
  const timers = heldAfter();
  const served = await serveGateway({
    plugins: { good },
    config: { plugins: { bad: { timeouts: { handle: "77s" } } } },
    setup: { plugins: injectedPlugins({ bad: { script: script(file) } }, timers) },
  });
  const { gateway } = served;
  const { job_ids } = await gateway.call("bad", "handle", { payload: {} }, { via: "api" });
  const behind = await gateway.call("good", "handle", { payload: {} }, { via: "api" });
  const id = job_ids[0] ?? "";
  const pids = (count: number) =>
    eventually(() => {
      const written = writtenPids(file);
      expect(written).toHaveLength(count);
      onTestFinished(() => written.forEach(killed));
      return written;
    });
  const nextIsGood = async () =>
    expect(await served.ended(behind.job_ids[0] ?? "")).toMatchObject({ status: "succeeded", result: "good" });
  return { ...served, timers, id, pids, nextIsGood };
}

/** What a test that failed has left. */
function killed(pid: number): void {
  if (isRunning(pid)) process.kill(pid, "SIGKILL");
}

const gone = (pids: readonly number[]) => eventually(() => expect(pids.filter(isRunning)).toEqual([]));

describe("a process that", () => {
  it("never ends is ended at its deadline, and its job has timed out", async () => {
    const { timers, pids, ended, id, nextIsGood } = await heldGateway((file) =>
      shell(`echo $$ > ${file}`, "sleep 1000"),
    );
    const running = await pids(1);
    await timers.goOff(DEADLINE_MS);
    await nextIsGood();
    expect(await ended(id)).toMatchObject({ status: "timed_out", reason: "timeout" });
    await gone(running);
  });

  it("ignores SIGTERM is killed after the grace time, with what it printed discarded", async () => {
    const script = (file: string) =>
      node(
        'process.on("SIGTERM", () => undefined);',
        `console.log(JSON.stringify({ status: "ok", result: "too late", state_updates: { a: 1 } }));`,
        `require("node:fs").writeFileSync(${JSON.stringify(file)}, String(process.pid));`,
        "setInterval(() => undefined, 1000);",
      );
    const { timers, pids, ended, id, nextIsGood, lastAttempt } = await heldGateway(script);
    const running = await pids(1);
    await timers.goOff(DEADLINE_MS);
    expect(running.every(isRunning)).toBe(true);
    await timers.goOff(GRACE_MS);
    await nextIsGood();
    expect(await ended(id)).toMatchObject({ status: "timed_out", reason: "timeout", result: null });
    expect(await lastAttempt(id)).toMatchObject({ exit_code: null, response: expect.stringContaining("too late") });
    await gone(running);
  });

  it("forks again and again is ended with all that it has started", async () => {
    const script = (file: string) =>
      shell(`for n in 1 2 3 4 5; do (trap '' TERM; echo $(sh -c 'echo $PPID') >> ${file}; sleep 1000) & done`, "wait");
    const { timers, pids, ended, id, nextIsGood } = await heldGateway(script);
    const running = await pids(5);
    await timers.goOff(DEADLINE_MS);
    await nextIsGood();
    expect(await ended(id)).toMatchObject({ status: "timed_out" });
    await gone(running);
  });

  it("leaves a grandchild that holds stdout has ended with its own exit, and the grandchild is killed", async () => {
    const script = (file: string) => shell(`sleep 1000 & echo $! > ${file}`, DONE, "exit 0");
    const { timers, pids, ended, id, nextIsGood } = await heldGateway(script);
    const left = await pids(1);
    await timers.goOff(DRAIN_MS);
    await nextIsGood();
    expect(await ended(id)).toMatchObject({ status: "succeeded", result: "done" });
    await gone(left);
  });

  it("leaves a grandchild that goes on printing without an end fails nothing that it said itself", async () => {
    const script = (file: string) => shell(DONE, `(echo $(sh -c 'echo $PPID') > ${file}; sleep 1000; yes) &`, "exit 0");
    const { timers, pids, ended, id, nextIsGood } = await heldGateway(script);
    const left = await pids(1);
    await timers.goOff(DRAIN_MS);
    await nextIsGood();
    expect(await ended(id)).toMatchObject({ status: "succeeded", result: "done" });
    await gone(left);
  });

  it("is cancelled is killed with its group, and its job is dead", async () => {
    const { gateway, pids, ended, id, nextIsGood } = await heldGateway((file) =>
      shell("trap '' TERM", `sleep 1000 & echo $! > ${file}`, `echo $$ >> ${file}`, "wait"),
    );
    const running = await pids(2);
    expect(await gateway.jobs.cancel(id, "anna")).toBe("requested");
    await nextIsGood();
    expect(await ended(id)).toMatchObject({ status: "dead", reason: "cancelled" });
    await gone(running);
  });

  it("reads nothing of a large request is no failure", async () => {
    const served = await serveGateway({ plugins: { good } });
    expect(await served.run("good", { text: "x".repeat(2_000_000) })).toMatchObject({ status: "succeeded" });
  });
});

describe("a process that cannot be started because of", () => {
  it.each(["EMFILE", "ENOMEM", "EAGAIN"])(
    "%s fails its attempt, and is started when there is room again",
    async (code) => {
      let calls = 0;
      const sometimes = ((...given: Parameters<Spawn>) => {
        calls++;
        if (calls < 3) throw Object.assign(new Error(`spawn ${code}`), { code });
        return spawn(...given);
      }) as Spawn;
      const served = await serveGateway({
        config: { plugins: { bad: { retry: { max_attempts: 4, backoff_base: "0s" } } } },
        setup: { plugins: injectedPlugins({ bad: good }, { spawn: sometimes }) },
      });
      const job = await served.run("bad");
      expect(job).toMatchObject({ status: "succeeded", attempt: 3, result: "good" });
      const { attempts } = await served.gateway.jobs.details(job.id);
      expect(attempts.map(({ reason, error }) => [reason, error])).toEqual([
        ["spawn_error", `The plugin could not be started: spawn ${code}`],
        ["spawn_error", `The plugin could not be started: spawn ${code}`],
        [null, null],
      ]);
    },
  );

  it("a missing interpreter fails its job, and no other", async () => {
    const served = await serveGateway({
      plugins: {
        good,
        env: { script: "#!/usr/bin/env no-such-interpreter\n" },
        direct: { script: "#!/no/such/file\n" },
      },
      config: { plugins: { env: once, direct: once } },
    });
    const viaEnv = await served.run("env");
    expect(viaEnv).toMatchObject({ status: "failed", reason: "spawn_error" });
    expect((await served.lastAttempt(viaEnv.id)).exit_code).toBe(127);
    const direct = await served.run("direct");
    expect(direct).toMatchObject({ status: "failed", reason: "spawn_error" });
    expect(direct.last_error).toContain("ENOENT");
    expect(await served.run("good")).toMatchObject({ status: "succeeded" });
  });
});
