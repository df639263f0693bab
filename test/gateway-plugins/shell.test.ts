// Promise: `shell` runs what its configuration allows, with arguments that nothing interprets, and nothing else.
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type Answer, ask, entryPoint, eventPayload, handling, runProgram, withoutPython } from "./run-plugin.ts";
import { newFolder } from "./workspace.ts";

beforeEach((context) => context.skip(withoutPython !== undefined, withoutPython));

type More = { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string };

async function shell(payload: object, config: object, workspace_dir?: string, more: More = {}): Promise<Answer> {
  return await ask("shell", { ...handling(payload), config, workspace_dir: workspace_dir ?? newFolder() }, more);
}

const refused = { status: "error", retry: false };

describe("a shell that is not configured", () => {
  it.each([[{}], [{ allow: [] }], [{ allow: null }]])("is off: %j", async (config) => {
    const answer = await shell({ argv: ["echo", "hello"] }, config);
    expect(answer).toMatchObject({ ...refused, error: "The shell plugin is off: config.allow is empty." });
  });

  it("says so when it is asked for its health", async () => {
    expect(await ask("shell", { command: "health" })).toMatchObject({ result: "shell is off: config.allow is empty." });
  });
});

describe("config.allow", () => {
  it("allows a program by its name", async () => {
    const answer = await shell({ argv: ["echo", "hello"] }, { allow: ["echo"] });
    expect(answer).toMatchObject({ status: "ok", result: "echo exited with 0." });
    expect(eventPayload(answer)).toEqual({
      ...{ argv: ["echo", "hello"], exit_code: 0, stdout: "hello\n", stderr: "" },
      ...{ stdout_clipped: false, stderr_clipped: false },
    });
  });

  it("allows a program by its path", async () => {
    expect(eventPayload(await shell({ argv: ["/bin/echo", "a"] }, { allow: ["/bin/echo"] })).stdout).toBe("a\n");
  });

  it.each([
    ["another program", ["cat"]],
    ["a path where a name is allowed", ["/bin/echo"]],
    ["a relative path", ["./echo"]],
    ["a path that ends in the name", ["../../bin/echo"]],
    ["a longer name", ["echo2"]],
    ["the name in capitals", ["ECHO"]],
    ["the name with a space", ["echo "]],
    ["a command line", ["echo hello; id"]],
    ["an option in its place", ["-c"]],
    ["nothing", [""]],
    ["a shell", ["sh", "-c", "echo hello"]],
    ["a variable before it", ["PATH=/tmp", "echo"]],
    ["NUL after the name", ["echo\0"]],
  ])("refuses %s", async (_what, argv) => {
    expect(await shell({ argv }, { allow: ["echo"] })).toMatchObject(refused);
  });

  it("refuses a name where a path is allowed", async () => {
    expect(await shell({ argv: ["echo"] }, { allow: ["/bin/echo"] })).toMatchObject(refused);
  });

  it.each([
    ["echo hello"],
    ["./echo"],
    ["bin/echo"],
    ["/bin/../bin/echo"],
    [".."],
    ["-x"],
    [""],
    ["*"],
    [5],
    [["echo"]],
  ])("is refused as a whole with an entry that is neither a name nor a path: %j", async (entry) => {
    expect(await shell({ argv: ["echo"] }, { allow: ["echo", entry] })).toMatchObject(refused);
  });

  it("means a program of the machine and not one that was put into the workspace", async () => {
    const workspace = newFolder();
    mkdirSync(join(workspace, "bin"));
    for (const path of ["own", "bin/own"]) {
      writeFileSync(join(workspace, path), "#!/bin/sh\necho taken over\n");
      chmodSync(join(workspace, path), 0o755);
    }
    const PATH = `:.:bin:${join(workspace, "bin")}:/usr/bin:/bin`;
    for (const [argv, allow] of [
      [["own"], ["own"]],
      [[join(workspace, "own")], [join(workspace, "own")]],
    ]) {
      const answer = await shell({ argv }, { allow, env: { PATH } }, workspace, { cwd: workspace });
      expect(answer).toMatchObject(refused);
    }
  });
});

describe("PATH", () => {
  it.each(["", ".", ".:", ":/usr/bin", "bin"])(
    "names no folder that depends on where the gateway was started: %j",
    async (PATH) => {
      const folder = newFolder();
      mkdirSync(join(folder, "bin"));
      for (const path of ["own", "bin/own"]) {
        writeFileSync(join(folder, path), "#!/bin/sh\necho taken over\n");
        chmodSync(join(folder, path), 0o755);
      }
      const answer = await shell({ argv: ["own"] }, { allow: ["own"], env: { PATH } }, newFolder(), { cwd: folder });
      expect(answer).toMatchObject({ ...refused, error: "The program own is not on this machine." });
    },
  );
});

describe("the PATH of a program", () => {
  it.each([":.:bin", "", ".", "WORKSPACE/bin", "LINK"])(
    "has no folder in which its callers may write, so that what it runs is of the machine: %j",
    async (folders) => {
      const workspace = newFolder();
      mkdirSync(join(workspace, "bin"));
      for (const path of ["own", "bin/own"]) {
        writeFileSync(join(workspace, path), "#!/bin/sh\necho taken over\n");
        chmodSync(join(workspace, path), 0o755);
      }
      const link = join(newFolder(), "link");
      symlinkSync(join(workspace, "bin"), link);
      const PATH = folders.replace("WORKSPACE", workspace).replace("LINK", link);
      const config = { allow: ["/usr/bin/env"], env: { PATH } };
      const answer = await shell({ argv: ["/usr/bin/env", "own"] }, config, workspace);
      expect(answer).toMatchObject({ ...refused, error: expect.stringContaining("exited with 127") });
    },
  );

  it("keeps the other folders, in their order", async () => {
    const workspace = newFolder();
    const PATH = `.:/usr/bin::${workspace}:/opt/not there:/bin`;
    const answer = await shell({ argv: ["env"] }, { allow: ["env"], env: { PATH } }, workspace);
    expect(eventPayload(answer).stdout).toContain("PATH=/usr/bin:/opt/not there:/bin\n");
  });
});

describe("arguments", () => {
  it.each([
    "$(id)",
    "`id`",
    "; id",
    "| id",
    "&& id",
    "> /tmp/file",
    "$HOME",
    "*",
    "~",
    "{a,b}",
    "a\nb",
    "'",
    '"',
    "\\",
    "-n",
    "--",
    "",
    "ü😀",
  ])("reach the program as they are: %j", async (argument) => {
    const answer = await shell({ argv: ["printf", "%s", argument] }, { allow: ["printf"] });
    expect(eventPayload(answer).stdout).toBe(argument);
  });

  it.each([
    ["a text", "echo hello"],
    ["nothing", undefined],
    ["an empty list", []],
    ["numbers", ["echo", 5]],
    ["lists in lists", ["echo", ["a"]]],
    ["null", ["echo", null]],
    ["NUL", ["echo", "a\0b"]],
    ["half a surrogate pair", ["echo", "\ud800"]],
    ["1,001 texts", ["echo", ...Array(1_000).fill("a")]],
  ])("are refused when they are %s", async (_what, argv) => {
    expect(await shell({ argv }, { allow: ["echo"] })).toMatchObject(refused);
  });

  it("that are too long for the system are an error for good", async () => {
    const answer = await shell({ argv: ["echo", "a".repeat(3_000_000)] }, { allow: ["echo"] });
    expect(answer).toMatchObject(refused);
  });

  it("are all that the payload decides: it sets no folder, environment, shell or program", async () => {
    const workspace = newFolder();
    const payload = {
      argv: ["pwd"],
      ...{ cwd: "/", workspace_dir: "/", shell: true, executable: "/bin/sh", command: "id", allow: ["id"] },
      ...{ env: { LD_PRELOAD: "/tmp/evil.so" }, config: { allow: ["id"] } },
    };
    expect(eventPayload(await shell(payload, { allow: ["pwd"] }, workspace)).stdout).toBe(`${workspace}\n`);
  });
});

describe("the program", () => {
  it("runs in the workspace, in config.cwd without one, and nowhere without both", async () => {
    const folder = newFolder();
    const request = { ...handling({ argv: ["pwd"] }) };
    const inConfigured = await ask("shell", { ...request, config: { allow: ["pwd"], cwd: folder } });
    expect(eventPayload(inConfigured).stdout).toBe(`${folder}\n`);
    expect(await ask("shell", { ...request, config: { allow: ["pwd"] } })).toMatchObject(refused);
    expect(await shell({ argv: ["pwd"] }, { allow: ["pwd"] }, join(folder, "missing"))).toMatchObject(refused);
    expect(await shell({ argv: ["pwd"] }, { allow: ["pwd"] }, "relative")).toMatchObject(refused);
  });

  it("sees PATH, LANG, a home that does not exist, and config.env", async () => {
    const config = { allow: ["env"], env: { GREETING: "hello" } };
    const answer = await shell({ argv: ["env"] }, config, newFolder(), { env: { SECRET: "hidden", PYTHONPATH: "/x" } });
    const lines = String(eventPayload(answer).stdout).trimEnd().split("\n");
    expect(lines.map((line) => line.split("=")[0]).sort()).toEqual(["GREETING", "HOME", "LANG", "PATH"]);
    expect(lines).toContain("HOME=/nonexistent");
  });

  it.each([[{ "A=B": "x" }], [{ A: 5 }], [{ A: "x\0" }], [["A=B"]]])(
    "does not run with an environment that is none: %j",
    async (env) => {
      expect(await shell({ argv: ["env"] }, { allow: ["env"], env })).toMatchObject(refused);
    },
  );

  it("reads stdin, which is empty otherwise", async () => {
    const config = { allow: ["cat"] };
    expect(eventPayload(await shell({ argv: ["cat"], stdin: "Grüße" }, config)).stdout).toBe("Grüße");
    expect(eventPayload(await shell({ argv: ["cat"] }, config)).stdout).toBe("");
  });

  it("need not read a large stdin", async () => {
    const answer = await shell({ argv: ["true"], stdin: "x".repeat(1_000_000) }, { allow: ["true"] });
    expect(answer).toMatchObject({ status: "ok" });
  });

  it("prints what is kept up to config.max_output_bytes", async () => {
    const stdin = "0123456789".repeat(100_000);
    const answer = await shell({ argv: ["cat"], stdin }, { allow: ["cat"], max_output_bytes: 25 });
    expect(eventPayload(answer)).toMatchObject({ stdout: "0123456789012345678901234", stdout_clipped: true });
  });

  it("may print bytes that are no text", async () => {
    const answer = await shell({ argv: ["printf", "a\\000\\377"] }, { allow: ["printf"] });
    expect(eventPayload(answer).stdout).toBe("a\ufffd\ufffd");
  });

  it("is killed after config.timeout_ms, however much it prints", async () => {
    const quiet = await shell({ argv: ["sleep", "1000"] }, { allow: ["sleep"], timeout_ms: 100 });
    const loud = await shell({ argv: ["yes"] }, { allow: ["yes"], timeout_ms: 100 });
    expect(quiet).toMatchObject({ ...refused, error: "sleep did not end within 100 ms." });
    expect(loud).toMatchObject({ ...refused, error: "yes did not end within 100 ms." });
  });

  it("is not waited for longer because of a process that it left behind", async () => {
    // The one left behind holds stdout open until it reads the end of a stdin that lasts as long as the test.
    const script = "echo done; cat <&3 >&1 & exit 0";
    const pipe = join(newFolder(), "pipe");
    const config = { allow: ["sh", "mkfifo"] };
    await shell({ argv: ["mkfifo", pipe] }, config);
    const answer = await shell({ argv: ["sh", "-c", `exec 3<>'${pipe}'; ${script}`] }, config);
    expect(eventPayload(answer)).toMatchObject({ exit_code: 0, stdout: "done\n" });
  });
});

describe("an exit code", () => {
  const failing = (code: number) => ({ argv: ["sh", "-c", `echo sorry >&2; exit ${code}`] });

  it("other than 0 is an error for good that says what was printed", async () => {
    const answer = await shell(failing(3), { allow: ["sh"] });
    expect(answer).toMatchObject({ ...refused, error: "sh exited with 3. It printed: sorry" });
  });

  it("is a result where config.ok_exit_codes lists it", async () => {
    for (const ok_exit_codes of [[3], "any"]) {
      const answer = await shell(failing(3), { allow: ["sh"], ok_exit_codes });
      expect(eventPayload(answer)).toMatchObject({ exit_code: 3, stderr: "sorry\n" });
    }
  });

  it("does not exist where a signal ended the program", async () => {
    const answer = await shell({ argv: ["sh", "-c", "kill -9 $$"] }, { allow: ["sh"], ok_exit_codes: "any" });
    expect(answer).toMatchObject({ ...refused, error: "sh was ended by signal 9." });
  });
});

describe("a program that cannot run", () => {
  it("because it is not there is an error for good, also for health", async () => {
    const config = { allow: ["no-such-program", "/no/such/program"] };
    expect(await shell({ argv: ["no-such-program"] }, config)).toMatchObject(refused);
    expect(await shell({ argv: ["/no/such/program"] }, config)).toMatchObject(refused);
    expect(await ask("shell", { command: "health", config })).toMatchObject(refused);
  });

  it("because it is none is an error for good", async () => {
    const file = join(newFolder(), "program");
    writeFileSync(file, "\x7fELF and nothing else");
    chmodSync(file, 0o755);
    expect(await shell({ argv: [file] }, { allow: [file] })).toMatchObject(refused);
  });
});

describe("a request that is wrong", () => {
  it.each([
    ["nothing", ""],
    ["no JSON", "hello"],
    ["a list", "[]"],
    ["null", "null"],
    ["10,000 levels", "[".repeat(10_000) + "]".repeat(10_000)],
    ["bytes that are not UTF-8", Buffer.from([0xff, 0xfe, 0x00, 0x80])],
    ["an unknown command", '{"command":"poll"}'],
    ["allow as a text", '{"command":"health","config":{"allow":"echo"}}'],
    ["a timeout of 0", '{"command":"health","config":{"timeout_ms":0}}'],
    ["exit codes that are no numbers", '{"command":"health","config":{"ok_exit_codes":["0"]}}'],
    ["a relative cwd", '{"command":"health","config":{"cwd":"tmp"}}'],
    ["stdin that is a number", '{"command":"handle","payload":{"argv":["echo"],"stdin":5}}'],
  ])("has one response: %s", async (_what, input) => {
    const folder = newFolder();
    const ended = await runProgram(entryPoint("shell"), input, { cwd: folder });
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(ended.stdout)).toMatchObject(refused);
    expect(readdirSync(folder)).toEqual([]);
  });
});
