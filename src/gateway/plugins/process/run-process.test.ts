import "node:child_process"; // these tests start processes
import { EventEmitter } from "node:events";
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { environment as pathWithPython, withoutPython } from "../../../../test/gateway-plugins/run-plugin.ts";
import { heldAfter } from "../../../../test/held-after.ts";
import { isRunning, node, pluginRoot, shell, writeScript, writtenPids } from "../../../../test/plugin-folders.ts";
import { pluginEnvironment } from "./environment.ts";
import { DRAIN_MS, GRACE_MS, type ProcessOptions, runProcess, STDERR_LIMIT, STDOUT_LIMIT } from "./run-process.ts";
import type { Spawn } from "./start-process.ts";

const TIMEOUT_MS = 120_000;

/** Other systems than Linux have nothing but sockets. */
const transports = process.platform === "linux" ? (["named streams", "sockets"] as const) : (["sockets"] as const);

const stdoutOf = ({ stdout }: { stdout: Uint8Array }) => Buffer.from(stdout).toString();

describe.each(transports)("with %s", (transport) => {
  /** Runs a script with timers that never go off by themselves. */
  function run(script: string, options: Partial<ProcessOptions> = {}) {
    const root = pluginRoot();
    const timers = heldAfter();
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    const end = runProcess({
      file: writeScript(join(root, "run"), script),
      environment: pluginEnvironment({ ...process.env, TMPDIR: root }, []),
      input: '{"protocol":2}\n',
      timeoutMs: TIMEOUT_MS,
      signal: controller.signal,
      after: timers.after,
      ...(transport === "sockets" && { openStreams: async () => undefined }),
      ...options,
    });
    const pids = join(root, "pids");
    return { end, root, ...timers, abort: () => controller.abort(), written: () => writtenPids(pids) };
  }

  describe("a plugin process", () => {
    it("gets the request on stdin, then the end of it, and its output is returned with its exit code", async () => {
      const { end } = run(shell("cat", "echo noise >&2", "exit 3"));
      const result = await end;
      expect(result).toMatchObject({ kind: "exited", exitCode: 3, stderr: "noise\n" });
      expect(stdoutOf(result)).toBe('{"protocol":2}\n');
    });

    if (transport === "named streams")
      it("can open its standard streams by name, as shell scripts do", async () => {
        const { end } = run(shell("cat /dev/stdin > /dev/stdout", "echo noise > /dev/stderr"));
        const result = await end;
        expect(result).toMatchObject({ kind: "exited", exitCode: 0, stderr: "noise\n" });
        expect(stdoutOf(result)).toBe('{"protocol":2}\n');
      });

    if (transport === "named streams")
      it("can open its stdin by name when everything was read, and finds its end", async () => {
        const { end } = run(shell("cat", "cat /dev/stdin", "echo fine"));
        expect(stdoutOf(await end)).toBe('{"protocol":2}\nfine\n');
      });

    if (transport === "named streams")
      it("gets all three as pipes, as programs do in a shell", async () => {
        const { end } = run(shell("for fd in 0 1 2; do [ -p /dev/fd/$fd ] && printf $fd; done"));
        expect(stdoutOf(await end)).toBe("012");
      });

    it.skipIf(withoutPython)("may read its stdin without blocking, as asyncio of Python does", async () => {
      const lines = [
        "#!/usr/bin/env python3",
        "import asyncio, sys",
        "async def main():",
        "    reader = asyncio.StreamReader()",
        "    protocol = asyncio.StreamReaderProtocol(reader)",
        "    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)",
        "    print(len(await reader.read()))",
        "asyncio.run(main())",
      ];
      const { end } = run(`${lines.join("\n")}\n`, { input: "é".repeat(4 * 1024 * 1024), environment: pathWithPython });
      const result = await end;
      expect(result).toMatchObject({ kind: "exited", exitCode: 0, stderr: "" });
      expect(stdoutOf(result)).toBe(`${8 * 1024 * 1024}\n`);
    });

    it("gets no arguments and keeps the gateway's working directory", async () => {
      const { end } = run(shell('echo "$#"', "pwd -P"));
      expect(stdoutOf(await end)).toBe(`0\n${realpathSync(process.cwd())}\n`);
    });

    it("may close its stdin unread, however large the request is", async () => {
      const { end } = run(shell("exec <&-", "echo fine"), { input: "x".repeat(3_000_000) });
      const result = await end;
      expect(result).toMatchObject({ kind: "exited", exitCode: 0 });
      expect(stdoutOf(result)).toBe("fine\n");
    });

    it("may exit without reading a large request", async () => {
      const { end } = run(shell("echo fine"), { input: "x".repeat(3_000_000) });
      expect(stdoutOf(await end)).toBe("fine\n");
    });

    it("receives a request of 8 MiB and may answer as much", async () => {
      const { end } = run(shell("cat"), { input: "é".repeat(4 * 1024 * 1024) });
      const result = await end;
      expect(result.stdout.length).toBe(8 * 1024 * 1024);
    });

    it("may be killed while it reads a large request", async () => {
      const { end } = run(shell("head -c 100000 > /dev/null", "kill -9 $$"), { input: "x".repeat(3_000_000) });
      expect(await end).toMatchObject({ kind: "exited", exitCode: null });
    });

    it("may leave a large request unread as long as it runs", async () => {
      const { end, goOff, written } = run(shell('echo $$ > "$TMPDIR/pids"', "exec sleep 1000"), {
        input: "x".repeat(3_000_000),
      });
      await expect.poll(() => written().length).toBe(1);
      await goOff(TIMEOUT_MS);
      expect(await end).toMatchObject({ kind: "timed_out", exitCode: null });
    });

    it("that prints nothing ends with empty output", async () => {
      const { end } = run(shell("exit 0"));
      expect(await end).toEqual({ kind: "exited", exitCode: 0, error: "", stdout: new Uint8Array(0), stderr: "" });
    });

    it("killed by a signal has no exit code", async () => {
      const { end } = run(shell("echo partly", "kill -9 $$"));
      const result = await end;
      expect(result).toMatchObject({ kind: "exited", exitCode: null });
      expect(stdoutOf(result)).toBe("partly\n");
    });

    it("leaves no timer behind", async () => {
      const { end, pending } = run(shell("echo fine"));
      await end;
      expect(pending()).toEqual([]);
    });
  });

  describe("the output of a plugin process", () => {
    it("of 11 MiB on stdout kills it, and no more than 10 MiB is kept (scenario 39)", async () => {
      const { end, written } = run(shell('echo $$ > "$TMPDIR/pids"', "head -c 11534336 /dev/zero", "sleep 1000"));
      const result = await end;
      expect(result.kind).toBe("overflowed");
      expect(result.stdout.length).toBe(STDOUT_LIMIT);
      await expect.poll(() => written().some(isRunning)).toBe(false);
    });

    it("that never ends is cut off at 10 MiB", async () => {
      const { end } = run(
        shell("while :; do echo 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'; done"),
      );
      expect((await end).kind).toBe("overflowed");
    });

    it("of exactly 10 MiB is accepted", async () => {
      const { end } = run(shell(`head -c ${STDOUT_LIMIT} /dev/zero`));
      const result = await end;
      expect(result).toMatchObject({ kind: "exited", exitCode: 0 });
      expect(result.stdout.length).toBe(STDOUT_LIMIT);
    });

    it("of 1 MiB on stderr is stored at 64 KiB and fails nothing (scenario 39)", async () => {
      const { end } = run(shell("head -c 1048576 /dev/zero | tr '\\0' e >&2", "echo fine"));
      const result = await end;
      expect(result).toMatchObject({ kind: "exited", exitCode: 0, stderr: "e".repeat(STDERR_LIMIT) });
      expect(stdoutOf(result)).toBe("fine\n");
    });

    it("that is no UTF-8 on stderr stays below 64 KiB as text too", async () => {
      const { end } = run(shell("head -c 1048576 /dev/zero | tr '\\0' '\\377' >&2"));
      const { stderr } = await end;
      expect(stderr).toMatch(/^\ufffd+$/);
      expect(Buffer.byteLength(stderr)).toBeLessThanOrEqual(STDERR_LIMIT);
    });
  });

  describe("the deadline of a plugin process", () => {
    it("ends the whole group with SIGTERM", async () => {
      const { end, goOff, written } = run(
        shell("sleep 1000 &", 'echo $$ $! > "$TMPDIR/new"', 'mv "$TMPDIR/new" "$TMPDIR/pids"', "wait"),
      );
      await expect.poll(() => written().length).toBe(2);
      await goOff(TIMEOUT_MS);
      expect(await end).toMatchObject({ kind: "timed_out", exitCode: null });
      await expect.poll(() => written().some(isRunning)).toBe(false);
    });

    it("ends with SIGKILL, after five seconds, a group that ignores SIGTERM", async () => {
      const { end, goOff, written } = run(
        shell(
          "trap '' TERM",
          'echo $$ > "$TMPDIR/new"',
          'mv "$TMPDIR/new" "$TMPDIR/pids"',
          "while :; do sleep 1; done",
        ),
      );
      await expect.poll(() => written().length).toBe(1);
      await goOff(TIMEOUT_MS);
      await goOff(GRACE_MS);
      expect(await end).toMatchObject({ kind: "timed_out" });
      await expect.poll(() => written().some(isRunning)).toBe(false);
    });

    it("has passed for a process that answers and exits with 0 after SIGTERM", async () => {
      const { end, goOff, written } = run(
        shell(
          "trap 'echo late; exit 0' TERM",
          'echo $$ > "$TMPDIR/new"',
          'mv "$TMPDIR/new" "$TMPDIR/pids"',
          "while :; do sleep 0.01; done",
        ),
      );
      await expect.poll(() => written().length).toBe(1);
      await goOff(TIMEOUT_MS);
      expect(await end).toMatchObject({ kind: "timed_out", exitCode: 0 });
    });

    it("kills a child that outlives its plugin's exit after SIGTERM", async () => {
      const { end, goOff, written } = run(
        shell(
          "(trap '' TERM; while :; do sleep 1; done) &",
          'echo $$ $! > "$TMPDIR/new"',
          'mv "$TMPDIR/new" "$TMPDIR/pids"',
          "wait",
        ),
      );
      await expect.poll(() => written().length).toBe(2);
      await goOff(TIMEOUT_MS);
      expect(await end).toMatchObject({ kind: "timed_out" });
      await expect.poll(() => written().some(isRunning)).toBe(false);
    });

    it.runIf(process.platform === "linux")("loses against a result that completed in the same instant", async () => {
      const { end, root, goOff, written } = run(
        shell(
          'echo $$ > "$TMPDIR/new"',
          'mv "$TMPDIR/new" "$TMPDIR/pids"',
          'until [ -e "$TMPDIR/go" ]; do sleep 0.01; done',
          "echo in time",
        ),
      );
      await expect.poll(() => written().length).toBe(1);
      const [pid = 0] = written();
      // The event loop gets no chance to notice the exit before the deadline goes off.
      writeFileSync(join(root, "go"), "");
      while (isRunning(pid)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      await goOff(TIMEOUT_MS);
      const result = await end;
      expect(result).toMatchObject({ kind: "exited", exitCode: 0 });
      expect(stdoutOf(result)).toBe("in time\n");
    });

    it("ends in any case, even if the process never does", async () => {
      const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
      const child = Object.assign(new EventEmitter(), { ...streams, pid: 2 ** 30, unref() {} });
      const spawn = (() => {
        setImmediate(() => child.emit("spawn"));
        return child;
      }) as unknown as Spawn;
      const { end, goOff } = run(shell(""), { spawn });
      await goOff(TIMEOUT_MS);
      await goOff(GRACE_MS);
      await goOff(GRACE_MS);
      expect(await end).toMatchObject({ kind: "timed_out", exitCode: null });
    });
  });

  describe("children of a plugin process", () => {
    it("that hold stdout open keep no finished plugin running, and are killed", async () => {
      const { end, goOff, written } = run(shell("sleep 1000 &", 'echo $! > "$TMPDIR/pids"', "echo fine"));
      await goOff(DRAIN_MS);
      const result = await end;
      expect(result).toMatchObject({ kind: "exited", exitCode: 0 });
      expect(stdoutOf(result)).toBe("fine\n");
      await expect.poll(() => written().some(isRunning)).toBe(false);
    });

    it("that write for a moment after the exit are heard", async () => {
      const { end } = run(shell("(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; echo late) &"));
      expect(stdoutOf(await end)).toBe("late\n");
    });

    it("that write to stdout without end do not keep it open either", async () => {
      const { end, goOff, written } = run(
        shell("(while :; do echo more; done) &", 'echo $! > "$TMPDIR/pids"', "echo fine"),
      );
      await goOff(DRAIN_MS);
      expect(["exited", "overflowed"]).toContain((await end).kind);
      await expect.poll(() => written().some(isRunning)).toBe(false);
    });

    it("that let go of stdout are killed with the exit of the plugin", async () => {
      const { end, written } = run(
        shell("sleep 1000 > /dev/null 2>&1 < /dev/null &", 'echo $! > "$TMPDIR/pids"', "echo fine"),
      );
      expect(await end).toMatchObject({ kind: "exited", exitCode: 0 });
      await expect.poll(() => written().some(isRunning)).toBe(false);
    });

    it("that left the group and hold stdout open end nothing later", async () => {
      const { end, goOff, written } = run(
        node(
          'const { spawn } = require("node:child_process");',
          'const child = spawn("sleep", ["1000"], { detached: true, stdio: "inherit" });',
          'require("node:fs").writeFileSync(process.env.TMPDIR + "/pids", String(child.pid));',
          'console.log("fine");',
          "process.exit();",
        ),
      );
      await goOff(DRAIN_MS);
      const result = await end;
      for (const pid of written()) process.kill(pid, "SIGKILL");
      expect(result).toMatchObject({ kind: "exited", exitCode: 0 });
      expect(stdoutOf(result)).toBe("fine\n");
    });
  });

  it("a child that left the group and goes on to read gets nothing of a later plugin's request", async () => {
    const escaped = run(
      node(
        'const { spawn } = require("node:child_process");',
        'const options = { detached: true, stdio: ["inherit", "ignore", "ignore"] };',
        "const script = 'while :; do cat >> \"$TMPDIR/read\"; sleep 0.01; done';",
        'const child = spawn("/bin/sh", ["-c", script], options);',
        'require("node:fs").writeFileSync(process.env.TMPDIR + "/pids", String(child.pid));',
        "process.exit();",
      ),
    );
    onTestFinished(() => {
      for (const pid of escaped.written()) process.kill(pid, "SIGKILL");
    });
    await escaped.end;
    const input = "later".repeat(100_000);
    for (let count = 0; count < 3; count++) expect(stdoutOf(await run(shell("cat"), { input }).end)).toBe(input);
    const read = join(escaped.root, "read");
    expect(existsSync(read) ? readFileSync(read, "utf8") : "").not.toContain("later");
  });

  it("a child that left the group and goes on to print reaches no later plugin's output", async () => {
    const escaped = run(
      node(
        'const { spawn } = require("node:child_process");',
        'const options = { detached: true, stdio: "inherit" };',
        'const child = spawn("/bin/sh", ["-c", "trap \'\' PIPE; while :; do echo more; done"], options);',
        'require("node:fs").writeFileSync(process.env.TMPDIR + "/pids", String(child.pid));',
        "process.exit();",
      ),
    );
    onTestFinished(() => {
      for (const pid of escaped.written()) process.kill(pid, "SIGKILL");
    });
    await escaped.goOff(DRAIN_MS);
    await escaped.end;
    for (let count = 0; count < 3; count++) {
      const { end } = run(shell("echo fine"));
      expect(stdoutOf(await end)).toBe("fine\n");
    }
  });

  describe("an abort", () => {
    it("kills the group at once", async () => {
      const { end, abort, written, pending } = run(
        shell("trap '' TERM", "sleep 1000 &", 'echo $$ $! > "$TMPDIR/new"', 'mv "$TMPDIR/new" "$TMPDIR/pids"', "wait"),
      );
      await expect.poll(() => written().length).toBe(2);
      abort();
      expect(await end).toMatchObject({ kind: "aborted" });
      await expect.poll(() => written().some(isRunning)).toBe(false);
      expect(pending()).toEqual([]);
    });

    it("before the start starts nothing", async () => {
      const { end, root } = run(shell('touch "$TMPDIR/started"'), { signal: AbortSignal.abort() });
      expect(await end).toMatchObject({ kind: "aborted" });
      expect(existsSync(join(root, "started"))).toBe(false);
    });

    it("during the grace period after the deadline does not wait for its end", async () => {
      const { end, goOff, abort, written } = run(
        shell(
          "trap '' TERM",
          'echo $$ > "$TMPDIR/new"',
          'mv "$TMPDIR/new" "$TMPDIR/pids"',
          "while :; do sleep 1; done",
        ),
      );
      await expect.poll(() => written().length).toBe(1);
      await goOff(TIMEOUT_MS);
      abort();
      expect(await end).toMatchObject({ kind: "aborted" });
    });
  });

  describe("a program that cannot be started", () => {
    const file = (name: string, text: string) => writeScript(join(pluginRoot(), name), text);

    it("because it is not there is an end like others", async () => {
      expect(await run("", { file: "/nonexistent/run" }).end).toMatchObject({ kind: "not_started", exitCode: null });
    });

    it("because its interpreter is missing is an end like others", async () => {
      const { end } = run("", { file: file("run", "#!/nonexistent/interpreter\n") });
      expect((await end).error).toContain("ENOENT");
    });

    it("because it is a folder is an end like others", async () => {
      expect(await run("", { file: pluginRoot() }).end).toMatchObject({ kind: "not_started" });
    });

    it.each(["EMFILE", "ENOMEM", "EAGAIN"])("because of %s is an end like others", async (code) => {
      const error = Object.assign(new Error(`spawn ${code}`), { code });
      const throws = (() => {
        throw error;
      }) as Spawn;
      // Node reports some codes by an event, on a child that has no streams.
      const emits = (() => {
        const child = Object.assign(new EventEmitter(), { pid: undefined, unref() {} });
        process.nextTick(() => child.emit("error", error));
        return child;
      }) as unknown as Spawn;
      for (const spawn of [throws, emits]) {
        expect(await run(shell(""), { spawn }).end).toMatchObject({ kind: "not_started", error: `spawn ${code}` });
      }
    });
  });

  it.runIf(process.platform === "linux")("no descriptor stays open, whatever came of the process", async () => {
    const open = () => readdirSync("/proc/self/fd").length;
    await run(shell("echo fine")).end;
    const before = open();
    const scripts = [shell("echo fine"), shell("exec <&- >&-"), "#!/nonexistent\n", shell("kill -9 $$")];
    const inputs = ["", "x".repeat(3_000_000)];
    for (const script of [...scripts, ...scripts]) for (const input of inputs) await run(script, { input }).end;
    const spawn = () => {
      throw new Error("spawn ENOMEM");
    };
    await run(shell("echo fine"), { spawn }).end;
    await expect.poll(open).toBeLessThanOrEqual(before);
  });
});
