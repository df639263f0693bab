// Plugins that are processes of their own: what they print and how they end decides what becomes of their jobs.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { isRunning, pluginRoot, shell, writePlugin, writtenPids } from "../plugin-folders.ts";
import { api, inShort, newFolder, openGateway } from "./gateway-world.ts";

/** A gateway with one plugin, a script. */
async function scripted(script: string, more: object = {}) {
  const root = pluginRoot();
  writePlugin(root, "tool", { script });
  const tool = { retry: { max_attempts: 2, backoff_base: "1ms" }, ...more };
  const world = await openGateway({ config: { plugin_roots: [root], plugins: { tool } } });
  const call = async () => {
    const { job_ids } = await world.gateway.call("tool", "handle", { payload: {} }, api);
    const tree = await world.endedTree(job_ids[0]);
    const { attempts } = await world.gateway.jobs.details(job_ids[0] ?? "");
    return { job: tree[0], attempts };
  };
  return { ...world, call };
}

describe("a process", () => {
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
    const answer = { status: "ok", result: "Well.", state_updates: { a: 1 }, events: [{ type: "mail" }] };
    const { call, gateway } = await scripted(shell(`echo '${JSON.stringify(answer)}'`, "exit 3"));
    const { job, attempts } = await call();
    expect(job).toMatchObject({ status: "failed", reason: "nonzero_exit", attempt: 2 });
    expect(attempts).toMatchObject(Array(2).fill({ exit_code: 3 }));
    expect(await gateway.jobs.list({ limit: 9 })).toHaveLength(1);
  });

  it("scenario 37: that exits with 78 has failed for good at its first attempt", async () => {
    const { call } = await scripted(shell(`echo '{"status":"ok","result":"Well."}'`, "exit 78"));
    expect((await call()).job).toMatchObject({ status: "failed", reason: "exit_code_78", attempt: 1 });
  });

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
