// Promise: `files` keeps texts in a workspace: complete or not at all, once however often a job is repeated.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type Answer, ask, entryPoint, eventPayload, handling, runProgram, withoutPython } from "./run-plugin.ts";
import { newFolder } from "./workspace.ts";

beforeEach((context) => context.skip(withoutPython !== undefined, withoutPython));

const correlation = { run_id: "R1", step: 2, tool: "fabric", attempt: 1 };

/** A request of an agent for the command, in this workspace. */
async function files(workspace_dir: string, command: string, payload: object, more: object = {}): Promise<Answer> {
  const request = command === "handle" ? handling(payload) : { command, payload };
  return await ask("files", { ...request, workspace_dir, context: correlation, ...more });
}

const text = (workspace: string, path: string) => readFileSync(join(workspace, path), "utf8");

describe("handle", () => {
  it("writes the text of the agent to artifacts/critique.md and says so, as the RFC's fabric", async () => {
    const workspace = newFolder();
    const answer = await files(workspace, "handle", {
      ...{ run_id: "R1", step: 2, tool: "fabric", tool_command: "handle", attempt: 1 },
      prompt: "Write a critique in two paragraphs.",
      text: "First paragraph.\n\nZweiter Absatz für Jürgen. 😀\n",
      input_path: "artifacts/fetch-01.html",
      output_path: "artifacts/critique.md",
    });
    expect(answer).toMatchObject({ status: "ok", result: "Wrote 52 bytes to artifacts/critique.md." });
    expect(answer.events?.[0]?.type).toBe("files.written");
    expect(eventPayload(answer)).toEqual({
      ...{ path: "artifacts/critique.md", artifact_path: "artifacts/critique.md" },
      ...{ bytes: 52, changed: true },
    });
    expect(text(workspace, "artifacts/critique.md")).toBe("First paragraph.\n\nZweiter Absatz für Jürgen. 😀\n");
  });

  it.each([
    ["a bare name", { output_path: "critique.md" }, "artifacts/critique.md"],
    ["no name", {}, "artifacts/fabric-02.md"],
    ["a folder of its own", { output_path: "notes/one/two.md" }, "notes/one/two.md"],
    ["the name as path", { path: "critique.md" }, "artifacts/critique.md"],
    ["the whole path", { output_path: "WORKSPACE/artifacts/a.md" }, "artifacts/a.md"],
  ])("chooses the file by %s", async (_what, payload, path) => {
    const workspace = newFolder();
    const named = JSON.parse(JSON.stringify(payload).replace("WORKSPACE", workspace));
    expect(eventPayload(await files(workspace, "handle", { text: "x", ...named })).artifact_path).toBe(path);
    expect(text(workspace, path)).toBe("x");
  });

  it("copies a file where there is no text and no prompt", async () => {
    const workspace = newFolder();
    writeFileSync(join(workspace, "page.html"), Buffer.from([0, 1, 0xff]));
    await files(workspace, "handle", { input_path: "page.html", output_path: "copy.bin" });
    expect(readFileSync(join(workspace, "artifacts/copy.bin"))).toEqual(Buffer.from([0, 1, 0xff]));
  });

  it("does not pretend to have followed a prompt", async () => {
    const answer = await files(newFolder(), "handle", { prompt: "Write!", input_path: "a", output_path: "b" });
    expect(answer).toMatchObject({ status: "error", retry: false });
    expect(answer.error).toContain("send the text itself in `text`");
  });
});

describe("a job that is repeated", () => {
  it("leaves the same file and the same answer but for `changed`", async () => {
    const workspace = newFolder();
    const payload = { text: "same", output_path: "artifacts/a.md" };
    const first = eventPayload(await files(workspace, "handle", payload));
    const again = eventPayload(await files(workspace, "handle", payload));
    expect(again).toEqual({ ...first, changed: false });
    expect(readdirSync(join(workspace, "artifacts"))).toEqual(["a.md"]);
  });

  it("appends once; another job appends again, also the same text", async () => {
    const workspace = newFolder();
    const append = (job_id: string, text: string) => files(workspace, "append", { path: "log.txt", text }, { job_id });
    await append("job-1", "a\n");
    await append("job-1", "a\n");
    await append("job-2", "a\n");
    await append("job-3", "b\n");
    expect(eventPayload(await append("job-2", "a\n"))).toMatchObject({ bytes: 6, changed: false });
    expect(text(workspace, "log.txt")).toBe("a\na\nb\n");
  });

  it("appends what a process that died had only recorded", async () => {
    const workspace = newFolder();
    const append = (job_id: string, text: string) => files(workspace, "append", { path: "log.txt", text }, { job_id });
    await append("job-1", "a\n");
    writeFileSync(join(workspace, "log.txt"), ""); // as if the file had not been written
    await append("job-2", "a\n"); // the same text at the same place
    await append("job-1", "a\n");
    expect(text(workspace, "log.txt")).toBe("a\na\n");
  });

  it("clears away what a process that died had left half-written", async () => {
    const workspace = newFolder();
    const key = createHash("sha256").update("a.txt\0job-1").digest("hex").slice(0, 16);
    writeFileSync(join(workspace, `.holdfast-files-${key}.tmp`), "hal");
    await files(workspace, "write", { path: "a.txt", text: "half" }, { job_id: "job-1" });
    expect(readdirSync(workspace)).toEqual(["a.txt"]);
  });

  it("can go on when the record of appends is damaged", async () => {
    const workspace = newFolder();
    writeFileSync(join(workspace, ".holdfast-files.json"), "[{");
    await files(workspace, "append", { path: "log.txt", text: "a" });
    expect(text(workspace, "log.txt")).toBe("a");
  });
});

describe("several processes at once", () => {
  it("lose no append", async () => {
    const workspace = newFolder();
    const jobs = Array.from({ length: 12 }, (_, index) => `job-${index}`);
    await Promise.all(
      jobs.map((job_id) => files(workspace, "append", { path: "log", text: `${job_id}\n` }, { job_id })),
    );
    expect(text(workspace, "log").trimEnd().split("\n").sort()).toEqual(jobs.toSorted());
  });
});

describe("write", () => {
  it("replaces a file and keeps its permissions", async () => {
    const workspace = newFolder();
    writeFileSync(join(workspace, "run.sh"), "old");
    chmodSync(join(workspace, "run.sh"), 0o755);
    await files(workspace, "write", { path: "run.sh", text: "new" });
    expect(text(workspace, "run.sh")).toBe("new");
    expect(statSync(join(workspace, "run.sh")).mode & 0o777).toBe(0o755);
  });

  it("takes bytes as base64", async () => {
    const workspace = newFolder();
    await files(workspace, "write", { path: "a.bin", content_base64: Buffer.from([0, 255]).toString("base64") });
    expect(readFileSync(join(workspace, "a.bin"))).toEqual(Buffer.from([0, 255]));
  });

  it.each(["context.md", "memory.md", "plan.md", "trace.jsonl", "TRACE.JSONL", "./artifacts/../trace.jsonl"])(
    "leaves the agent's own files alone: %s",
    async (path) => {
      const workspace = newFolder();
      mkdirSync(join(workspace, "artifacts"));
      for (const command of ["write", "append", "handle"]) {
        // A bare name goes to artifacts/ with `handle`, so that it is another file.
        const target = command === "handle" ? `./${path}` : path;
        const answer = await files(workspace, command, { path: target, text: "forged" });
        expect(answer).toMatchObject({ status: "error", retry: false });
      }
      expect(readdirSync(workspace)).toEqual(["artifacts"]);
    },
  );

  it("refuses more than config.max_bytes, also by appending", async () => {
    const workspace = newFolder();
    const config = { max_bytes: 10 };
    const tooMuch = { status: "error", retry: false, error: expect.stringContaining("config.max_bytes is 10") };
    expect(await files(workspace, "write", { path: "a", text: "12345678901" }, { config })).toMatchObject(tooMuch);
    await files(workspace, "write", { path: "a", text: "1234567890" }, { config });
    expect(await files(workspace, "append", { path: "a", text: "1" }, { config })).toMatchObject(tooMuch);
    expect(text(workspace, "a")).toBe("1234567890");
  });
});

describe("read", () => {
  it("reads a large file part by part, never half a character", async () => {
    const workspace = newFolder();
    const whole = "aé😀".repeat(500);
    writeFileSync(join(workspace, "a.txt"), whole);
    const parts: string[] = [];
    for (let offset: unknown = 0; offset !== undefined; ) {
      const part = eventPayload(await files(workspace, "read", { path: "a.txt", offset, limit: 1_000 }));
      parts.push(String(part.content));
      offset = part.next_offset;
    }
    expect(parts.join("")).toBe(whole);
    expect(parts).toHaveLength(4);
  });

  it("gives bytes that are no text as base64", async () => {
    const workspace = newFolder();
    writeFileSync(join(workspace, "a.bin"), Buffer.from([0xff, 0x00]));
    expect(eventPayload(await files(workspace, "read", { path: "a.bin" }))).toEqual({
      ...{ path: "a.bin", bytes: 2, offset: 0, content_base64: "/wA=" },
    });
  });

  it.each([
    ["a file that is not there", "missing.txt"],
    ["a folder", "folder"],
    ["the workspace", "."],
    ["a named pipe, without waiting", "pipe"],
    ["a link in a circle", "circle"],
    ["a path through a file", "file/inner"],
    ["the plugin's own record", ".holdfast-files.json"],
  ])("is an error for good for %s", async (_what, path) => {
    const workspace = newFolder();
    mkdirSync(join(workspace, "folder"));
    writeFileSync(join(workspace, "file"), "x");
    writeFileSync(join(workspace, ".holdfast-files.json"), "{}");
    spawnSync("mkfifo", [join(workspace, "pipe")]);
    symlinkSync("circle", join(workspace, "circle"));
    expect(await files(workspace, "read", { path })).toMatchObject({ status: "error", retry: false });
  });
});

describe("list and stat", () => {
  it("describe what is there, links not followed, sorted", async () => {
    const workspace = newFolder();
    mkdirSync(join(workspace, "artifacts"));
    writeFileSync(join(workspace, "artifacts/a.md"), "abc");
    writeFileSync(join(workspace, "b.txt"), "");
    writeFileSync(join(workspace, ".holdfast-files.json"), "{}");
    symlinkSync("/etc", join(workspace, "link"));

    const flat = eventPayload(await files(workspace, "list", {}));
    const deep = eventPayload(await files(workspace, "list", { recursive: true }));

    expect(flat).toMatchObject({ path: ".", clipped: false });
    expect(pathsOf(flat)).toEqual(["artifacts", "b.txt", "link"]);
    expect(pathsOf(deep)).toEqual(["artifacts", "artifacts/a.md", "b.txt", "link"]);
    expect(deep.entries).toContainEqual(expect.objectContaining({ path: "artifacts/a.md", type: "file", bytes: 3 }));
    expect(deep.entries).toContainEqual(expect.objectContaining({ path: "link", type: "link" }));
  });

  it("stop at config.max_entries", async () => {
    const workspace = newFolder();
    for (const name of ["a", "b", "c"]) writeFileSync(join(workspace, name), "");
    const listed = eventPayload(await files(workspace, "list", {}, { config: { max_entries: 2 } }));
    expect(listed).toMatchObject({ clipped: true });
    expect(pathsOf(listed)).toEqual(["a", "b"]);
  });

  it("say of a path that is not there that it is not", async () => {
    const workspace = newFolder();
    writeFileSync(join(workspace, "file"), "x");
    const exists = async (path: string) => eventPayload(await files(workspace, "stat", { path })).exists;
    expect([await exists("file"), await exists("."), await exists("none"), await exists("file/x/y")]).toEqual([
      ...[true, true, false, false],
    ]);
  });

  it("name files whose names are no text", async () => {
    const workspace = newFolder();
    writeFileSync(Buffer.concat([Buffer.from(`${workspace}/a`), Buffer.from([0xff])]), "x");
    expect(pathsOf(eventPayload(await files(workspace, "list", {})))).toEqual(["a\ufffd"]);
  });
});

describe("a request that is wrong", () => {
  it.each([
    ["nothing", ""],
    ["no JSON", "hello"],
    ["a list", "[]"],
    ["null", "null"],
    ["10,000 levels", "[".repeat(10_000) + "]".repeat(10_000)],
    ["a number of 10,000 digits", "9".repeat(10_000)],
    ["bytes that are not UTF-8", Buffer.from([0xff, 0xfe, 0x00, 0x80])],
    ["an unknown command", '{"command":"delete"}'],
    ["a command that is a list", '{"command":["read"]}'],
    ["no folder", '{"command":"list"}'],
    ["roots that are no list", '{"command":"health","config":{"roots":"/tmp"}}'],
    ["a relative root", '{"command":"health","config":{"roots":["tmp"]}}'],
    ["a root that is not there", '{"command":"health","config":{"roots":["/no/such/folder"]}}'],
    ["a limit that is no number", '{"command":"health","config":{"max_bytes":true}}'],
    ["a path that is a number", '{"command":"read","config":{"roots":["/tmp"]},"payload":{"path":5}}'],
    ["half a surrogate pair as path", '{"command":"read","config":{"roots":["/tmp"]},"payload":{"path":"\\ud800"}}'],
    ["NUL in the path", '{"command":"read","config":{"roots":["/tmp"]},"payload":{"path":"a\\u0000b"}}'],
    ["text that is a number", '{"command":"write","config":{"roots":["/tmp"]},"payload":{"path":"a","text":5}}'],
    ["half a pair as text", '{"command":"write","config":{"roots":["/tmp"]},"payload":{"path":"a","text":"\\udc00"}}'],
    ["no base64", '{"command":"write","config":{"roots":["/tmp"]},"payload":{"path":"a","content_base64":"%"}}'],
    ["no text", '{"command":"write","config":{"roots":["/tmp"]},"payload":{"path":"a"}}'],
    ["a negative offset", '{"command":"read","config":{"roots":["/tmp"]},"payload":{"path":"a","offset":-1}}'],
    ["a relative workspace", '{"command":"list","workspace_dir":"tmp"}'],
  ])("has one response: %s", async (_what, input) => {
    const ended = await runProgram(entryPoint("files"), input);
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: "error", retry: false });
  });
});

function pathsOf(listed: Readonly<Record<string, unknown>>): readonly string[] {
  return (listed.entries as readonly { path: string }[]).map(({ path }) => path);
}
