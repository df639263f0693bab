import "node:child_process"; // these tests start processes
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { heldAfter } from "../../../test/held-after.ts";
import { node, pluginRoot, shell, writePlugin, writeScript } from "../../../test/plugin-folders.ts";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { discoverPlugins } from "./discover.ts";
import type { RunOptions } from "./plugin.ts";
import { pluginEnvironment } from "./process/environment.ts";
import { runAsSubprocess, type SubprocessOptions } from "./subprocess-plugin.ts";

const TIMEOUT_MS = 120_000;

const request: PluginRequest = {
  ...{ protocol: 2, job_id: "job-1", command: "handle", config: { greeting: "Grüße" }, state: {} },
  deadline_at: "2026-01-01T00:00:00.000Z",
};

/** A plugin that was discovered, with timers that never go off by themselves. */
function plugin(script: string, options: Partial<SubprocessOptions> = {}) {
  const root = pluginRoot();
  const file = join(writePlugin(root, "echo", { script }), "run");
  const timers = heldAfter();
  function discover() {
    const found = discoverPlugins([root], { strict: false, allowSymlinks: false }).plugins.get("echo");
    if (!found) throw new Error("The plugin was not found.");
    const environment = pluginEnvironment({ ...process.env, TMPDIR: root }, []);
    const run = runAsSubprocess(found, { environment, after: timers.after, ...options });
    return (more: Partial<RunOptions> = {}, changes: Partial<PluginRequest> = {}) =>
      run({ ...request, ...changes }, { timeoutMs: TIMEOUT_MS, signal: new AbortController().signal, ...more });
  }
  return { root, file, discover, run: discover(), ...timers };
}

const prints = (text: string) => shell(`cat <<'END'`, text, "END");
const ok = '{"status":"ok","result":"done"}';
const spawnError = { outcome: "failed", reason: "spawn_error", retryable: true };

describe("an answer", () => {
  it("with its events, state and logs is the response of the job", async () => {
    const text = JSON.stringify({
      ...{ status: "ok", result: "done", state_updates: { a: 1 }, logs: [{ level: "info", message: "hello" }] },
      events: [{ type: "echo.said", payload: { x: 1 }, dedupe_key: " k " }],
    });
    expect(await plugin(prints(text)).run()).toMatchObject({
      ...{ outcome: "succeeded", warnings: [], stdout: `${text}\n`, stderr: "", exit_code: 0 },
      response: {
        status: "ok",
        result: "done",
        state_updates: { a: 1 },
        events: [{ type: "echo.said", payload: { x: 1 } }],
      },
    });
  });

  it("is to one line of JSON, which holds the whole request", async () => {
    const script = shell('cat > "$TMPDIR/request"', `echo '${ok}'`);
    const { run, root } = plugin(script);
    expect(await run()).toMatchObject({ outcome: "succeeded" });
    const line = readFileSync(join(root, "request"), "utf8");
    expect(line).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(line)).toEqual(request);
  });

  it("may come from a plugin in any language that has an interpreter on the PATH", async () => {
    const script = node(
      'const request = JSON.parse(require("node:fs").readFileSync(0, "utf8"));',
      'console.log(JSON.stringify({ status: "ok", result: request.config.greeting }));',
    );
    expect(await plugin(script).run()).toMatchObject({ response: { result: "Grüße" } });
  });

  it("that is valid is discarded when the plugin exits with 3 (scenario 38)", async () => {
    const script = shell(`echo '${ok}'`, "exit 3");
    expect(await plugin(script).run()).toMatchObject({
      ...{ outcome: "failed", reason: "nonzero_exit", retryable: true, exit_code: 3, stdout: `${ok}\n` },
    });
    expect(await plugin(script, { exit_code_policy: "envelope" }).run()).toMatchObject({
      outcome: "succeeded",
      exit_code: 3,
    });
  });

  it("that is valid is discarded when a signal ends the plugin", async () => {
    expect(await plugin(shell(`echo '${ok}'`, "kill -9 $$")).run()).toMatchObject({
      ...{ outcome: "failed", reason: "nonzero_exit", retryable: true, exit_code: null },
    });
  });

  it.each([
    ["an error", '{"status":"error","error":"no"}'],
    ["ok", ok],
    ["nothing", ""],
  ])("of %s with exit 78 is a permanent failure", async (_kind, text) => {
    expect(await plugin(shell(`echo '${text}'`, "exit 78")).run()).toMatchObject({
      ...{ outcome: "failed", reason: "exit_code_78", retryable: false, exit_code: 78 },
    });
  });

  it("of status error says whether to try again", async () => {
    expect(await plugin(prints('{"status":"error","error":"busy"}')).run()).toMatchObject({
      ...{ outcome: "failed", reason: "plugin_error", retryable: true, error: "busy" },
    });
    expect(await plugin(prints('{"status":"error","error":"bad","retry":false}')).run()).toMatchObject({
      ...{ outcome: "failed", reason: "plugin_retry_false", retryable: false, error: "bad" },
    });
  });

  it("without a result is accepted with a warning, unless the protocol is strict", async () => {
    expect(await plugin(prints('{"status":"ok"}')).run()).toMatchObject({
      outcome: "succeeded",
      warnings: [expect.any(String)],
    });
    expect(await plugin(prints('{"status":"ok"}'), { strict_protocol: true }).run()).toMatchObject(spawnError);
  });
});

describe("a plugin that does not answer by the protocol fails with spawn_error, can be retried, and its stdout is kept", () => {
  it.each([
    ["half an answer (scenario 38)", '{"status":"ok"'],
    ["two answers (scenario 38)", `${ok}${ok}`],
    ["an unknown status (scenario 38)", '{"status":"maybe"}'],
    ["an error without text (scenario 38)", '{"status":"error"}'],
    ["garbage", "}{ no JSON at all"],
    ["a list", "[1,2,3]"],
  ])("%s", async (_kind, text) => {
    expect(await plugin(prints(text)).run()).toMatchObject({ ...spawnError, exit_code: 0, stdout: `${text}\n` });
  });

  it("nothing (scenario 38)", async () => {
    expect(await plugin(shell("exit 0")).run()).toMatchObject({ ...spawnError, stdout: "" });
  });

  it("bytes that are no UTF-8", async () => {
    const execution = await plugin(shell(`printf '{"status":"ok","result":"\\377\\376"}'`)).run();
    expect(execution).toMatchObject({ ...spawnError, stdout: '{"status":"ok","result":"\ufffd\ufffd"}' });
  });

  it("NUL characters between the brackets", async () => {
    expect(await plugin(shell(`printf '{"status":\\000"ok"}'`)).run()).toMatchObject(spawnError);
  });

  it("JSON that is 10,000 levels deep", async () => {
    const script = prints(
      `{"status":"ok","result":"x","state_updates":{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}}`,
    );
    expect(await plugin(script).run()).toMatchObject(spawnError);
  });

  it("11 MiB, of which no more than 64 KiB is kept (scenario 39)", async () => {
    const execution = await plugin(shell("head -c 11534336 /dev/zero | tr '\\0' x")).run();
    expect(execution).toMatchObject({ ...spawnError, stdout: "x".repeat(65_536) });
  });

  it("an interpreter that is missing", async () => {
    expect(await plugin("#!/nonexistent/interpreter\n").run()).toMatchObject({ ...spawnError, exit_code: null });
    expect(await plugin("#!/usr/bin/env no-such-interpreter-xyz\n").run()).toMatchObject({
      ...spawnError,
      exit_code: 127,
    });
  });

  it.each([
    ["without a #! line", () => ""],
    ["with an empty #! line", () => "#!\n"],
    ["that begins like a program", () => "\x7fELF\0\n"],
    ["with an interpreter that is no program", () => `#!${writeScript(join(pluginRoot(), "interpreter"), "echo")}\n`],
  ])("an entry point %s, which no shell gets to see", async (_what, beginning) => {
    const { run, root } = plugin(`${beginning()}touch "$TMPDIR/started"\n`);
    expect(await run()).toMatchObject({ ...spawnError, exit_code: null });
    expect(existsSync(join(root, "started"))).toBe(false);
  });
});

it("lone surrogates and NUL in an answer are replaced, so that it can be stored", async () => {
  const text = '{"status":"ok","result":"a\\ud800b\\u0000c"}';
  expect(await plugin(prints(text)).run()).toMatchObject({ response: { result: "a\ufffdb\ufffdc" } });
});

it("a __proto__ in an answer reaches no object", async () => {
  const text =
    '{"status":"ok","result":"x","__proto__":{"status":"error"},"state_updates":{"__proto__":{"evil":1},"b":2}}';
  const execution = await plugin(prints(text)).run();
  expect(execution).toMatchObject({ outcome: "succeeded", response: { state_updates: { b: 2 } } });
  expect(({} as { evil?: number }).evil).toBeUndefined();
});

it("1 MiB on stderr fails nothing, and 64 KiB of it are kept (scenario 39)", async () => {
  const script = shell("head -c 1048576 /dev/zero | tr '\\0' e >&2", `echo '${ok}'`);
  expect(await plugin(script).run()).toMatchObject({ outcome: "succeeded", stderr: "e".repeat(65_536) });
});

it("a plugin that never ends has timed out, and can be retried", async () => {
  const { run, goOff } = plugin(shell(`echo '${ok}'`, "exec sleep 1000"));
  const execution = run();
  await goOff(TIMEOUT_MS);
  expect(await execution).toMatchObject({ outcome: "timed_out", reason: "timeout", retryable: true });
});

it("an abort is an outcome of its own", async () => {
  const controller = new AbortController();
  const execution = plugin(shell("exec sleep 1000")).run({ signal: controller.signal });
  controller.abort();
  expect(await execution).toMatchObject({ outcome: "aborted", exit_code: null });
});

it("the workspace of its run is there when it starts, also when no other has written to it", async () => {
  const { run, root } = plugin(shell(`cd "$(sed 's/.*"workspace_dir":"\\([^"]*\\)".*/\\1/')" && echo '${ok}'`));
  const workspace_dir = join(root, "workspaces/job-1");
  expect(await run({}, { workspace_dir })).toMatchObject({ outcome: "succeeded", stderr: "" });
  expect(await run({}, { workspace_dir: join(root, "echo/run/inside") })).toMatchObject({
    ...{ ...spawnError, error: expect.stringContaining("ENOTDIR") },
  });
});

it("no descriptor left is a failure that can be retried", async () => {
  const spawn = () => {
    throw Object.assign(new Error("spawn EMFILE"), { code: "EMFILE" });
  };
  expect(await plugin(prints(ok), { spawn }).run()).toMatchObject({
    ...spawnError,
    error: expect.stringContaining("EMFILE"),
  });
});

it("a request that JSON cannot carry is a failure, and no exception", async () => {
  const circle: { state?: unknown } = {};
  circle.state = circle;
  expect(await plugin(prints(ok)).run({}, { state: circle as JsonMap })).toMatchObject({
    ...{ outcome: "failed", reason: "spawn_error", stdout: "" },
  });
});

it("an entry point that was swapped after the discovery is not started, until plugins are discovered again", async () => {
  const { run, file, root, discover } = plugin(prints(ok));
  renameSync(writeScript(join(root, "other"), shell('touch "$TMPDIR/started"', `echo '${ok}'`)), file);
  expect(await run()).toMatchObject({ ...spawnError, error: expect.stringContaining("plugin_untrusted") });
  expect(existsSync(join(root, "started"))).toBe(false);
  expect(await discover()()).toMatchObject({ outcome: "succeeded" });
});

it("the gateway's secrets do not reach a plugin", async () => {
  const secrets = { HOLDFAST_SECRET_KEY: "s1", HOLDFAST_TOKEN: "s2", OPENAI_API_KEY: "s3", DATABASE_URL: "s4" };
  const environment = pluginEnvironment({ PATH: process.env.PATH, ...secrets, GREETING: "hello" }, ["GREETING"]);
  const script = node('console.log(JSON.stringify({ status: "ok", result: JSON.stringify(process.env) }));');
  const execution = await plugin(script, { environment }).run();
  const visible = execution.outcome === "succeeded" ? JSON.parse(execution.response.result) : {};
  expect(visible).toMatchObject({ GREETING: "hello" });
  expect(Object.keys(visible).filter((name) => name in secrets)).toEqual([]);
  // Node itself hands on the folder for coverage reports, macOS the encoding of texts.
  const others = Object.keys(visible).filter(
    (name) => !["PATH", "GREETING", "NODE_V8_COVERAGE", "__CF_USER_TEXT_ENCODING"].includes(name),
  );
  expect(others).toEqual([]);
});
