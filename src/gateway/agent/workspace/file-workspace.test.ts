import { execFileSync } from "node:child_process";
import {
  access,
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileWorkspaces } from "./file-workspace.ts";
import type { TraceLine } from "./workspace.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(await realpath(tmpdir()), "workspaces-"));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const line = (job_id: string, phase: TraceLine["phase"], summary = ""): TraceLine => {
  return { ts: "2026-02-16T12:00:00Z", run_id: "R1", step: 1, attempt: 1, phase, kind: "k", job_id, summary };
};

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe("a workspace folder", () => {
  it("is made by the first write, below the root, under the id of the start job", async () => {
    const workspace = fileWorkspaces(join(root, "deep", "er")).of("job:J1");
    expect(await workspace.read("memory.md")).toBe("");
    await workspace.write("memory.md", "# Memory\n");
    expect(await readFile(join(root, "deep", "er", "J1", "memory.md"), "utf8")).toBe("# Memory\n");
    expect(await workspace.read("memory.md")).toBe("# Memory\n");
  });

  it("replaces a file as a whole, and leaves no drafts", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.write("plan.md", "long ".repeat(1_000));
    await workspace.write("plan.md", "short");
    expect(await workspace.read("plan.md")).toBe("short");
    expect(await readdir(join(root, "J1"))).toEqual(["plan.md"]);
  });

  it("keeps the old file and no draft when a write fails", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await mkdir(join(root, "J1", "plan.md", "in-the-way"), { recursive: true });
    await expect(workspace.write("plan.md", "new")).rejects.toThrow();
    expect(await readdir(join(root, "J1"))).toEqual(["plan.md"]);
  });

  it.each([
    "job:",
    "job:..",
    "job:.",
    "job:.git",
    "job:a/b",
    "job:../x",
    "job:a\\b",
    "job:a\0",
    "J1",
    "",
    `job:${"x".repeat(200)}`,
  ])("is not found behind the reference %j", async (ref) => {
    const workspaces = fileWorkspaces(root);
    expect(() => workspaces.of(ref)).toThrow("invalid_argument");
    await expect(workspaces.remove(ref)).rejects.toThrow("invalid_argument");
  });

  it("is removed with everything in it; a link in it is removed and what it leads to is not", async () => {
    const outside = join(root, "outside");
    await mkdir(outside);
    await writeFile(join(outside, "kept.txt"), "kept");
    const workspaces = fileWorkspaces(join(root, "all"));
    await workspaces.of("job:J1").write("memory.md", "x");
    await symlink(outside, join(root, "all", "J1", "artifacts"));
    await symlink(outside, join(root, "all", "J2"));
    await workspaces.remove("job:J1");
    await workspaces.remove("job:J2");
    await workspaces.remove("job:J3");
    expect(await readdir(join(root, "all"))).toEqual([]);
    expect(await readFile(join(outside, "kept.txt"), "utf8")).toBe("kept");
  });

  it("is not used where a link stands in its place", async () => {
    const outside = join(root, "outside");
    await mkdir(outside);
    await symlink(outside, join(root, "J1"));
    const workspace = fileWorkspaces(root).of("job:J1");
    await expect(workspace.write("memory.md", "x")).rejects.toThrow("invalid_file_path");
    await expect(workspace.appendTrace("J1", [line("J1", "act")])).rejects.toThrow("invalid_file_path");
    expect(await readdir(outside)).toEqual([]);
    await writeFile(join(outside, "memory.md"), "secret");
    await writeFile(join(outside, "trace.jsonl"), `${JSON.stringify(line("J1", "act"))}\n`);
    expect(await workspace.read("memory.md")).toBe("");
    expect(await workspace.readTrace()).toEqual([]);
    expect(await workspace.hasArtifact("memory.md")).toBe(false);
    expect(await workspace.readArtifact("memory.md")).toBeUndefined();
  });

  it("holds no file where a file stands in its place", async () => {
    await writeFile(join(root, "J1"), "");
    const workspace = fileWorkspaces(root).of("job:J1");
    expect(await workspace.read("memory.md")).toBe("");
    await expect(workspace.write("memory.md", "x")).rejects.toThrow("invalid_file_path");
  });
});

describe("a named pipe that a tool has put into a workspace", () => {
  const pipe = (...path: string[]) => execFileSync("mkfifo", [join(root, "J1", ...path)]);

  it("keeps nothing waiting: it is no file, and a file can take its place", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.writeArtifact("artifacts/a.txt", "a");
    for (const name of ["memory.md", "plan.md"]) pipe(name);
    pipe("artifacts", "b.txt");
    expect(await workspace.read("memory.md")).toBe("");
    expect(await workspace.hasArtifact("artifacts/b.txt")).toBe(false);
    expect(await workspace.readArtifact("artifacts/b.txt")).toBeUndefined();
    await workspace.write("plan.md", "plan");
    await workspace.writeArtifact("artifacts/b.txt", "b");
    expect(await workspace.read("plan.md")).toBe("plan");
    expect(await workspace.readArtifact("artifacts/b.txt")).toBe("b");
  });

  it("is no trace, and refuses the lines of a turn", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.write("memory.md", "x");
    pipe("trace.jsonl");
    expect(await workspace.readTrace()).toEqual([]);
    await expect(workspace.appendTrace("J1", [line("J1", "act")])).rejects.toThrow("invalid_file_path");
  });
});

describe("a file that a tool has filled", () => {
  it("is read up to 16 MiB", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.write("memory.md", "# Memory\n");
    await workspace.writeArtifact("artifacts/request-01.json", "{}");
    for (const name of ["memory.md", "artifacts/request-01.json"])
      await truncate(join(root, "J1", name), 3_000_000_000);
    expect((await workspace.read("memory.md")).startsWith("# Memory\n\0")).toBe(true);
    expect(await workspace.readArtifact("artifacts/request-01.json")).toHaveLength(16 * 1024 * 1024);
  });

  it("as a trace loses an incomplete last line of any length, and shows its last lines", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.appendTrace("A", [line("A", "act")]);
    const { size } = await stat(join(root, "J1", "trace.jsonl"));
    await truncate(join(root, "J1", "trace.jsonl"), 50_000_000);
    expect(await workspace.readTrace()).toEqual([]);
    await workspace.appendTrace("A", [line("A", "act")]);
    expect(await workspace.readTrace()).toEqual([line("A", "act")]);
    expect((await stat(join(root, "J1", "trace.jsonl"))).size).toBe(size);
  });

  it("as a trace keeps a complete line of any length, and what stands before it", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.appendTrace("A", [line("A", "act")]);
    await appendFile(
      join(root, "J1", "trace.jsonl"),
      `${JSON.stringify({ ...line("A", "act"), x: "x".repeat(3_000_000) })}\n`,
    );
    const { size } = await stat(join(root, "J1", "trace.jsonl"));
    await workspace.appendTrace("A", [line("A", "act")]);
    await workspace.appendTrace("A", [line("A", "act")]);
    expect((await stat(join(root, "J1", "trace.jsonl"))).size).toBe(size + JSON.stringify(line("A", "act")).length + 1);
  });

  it("as a trace refuses more from 1 GiB on", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.appendTrace("A", [line("A", "act")]);
    await truncate(join(root, "J1", "trace.jsonl"), 1024 ** 3 + 1);
    await expect(workspace.appendTrace("B", [line("B", "act")])).rejects.toThrow("invalid_file_path");
  });
});

describe("an artifact", () => {
  it("is written, found and read by its path", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.writeArtifact("artifacts/fetch-01.html", "<p>");
    expect(await workspace.hasArtifact("artifacts/fetch-01.html")).toBe(true);
    expect(await workspace.readArtifact("artifacts/fetch-01.html")).toBe("<p>");
    expect(await workspace.readArtifact("artifacts/fetch-02.html")).toBeUndefined();
  });

  it("is not a path that leads out of the workspace, not a folder, and not what is not there", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.writeArtifact("artifacts/a.txt", "a");
    await writeFile(join(root, "secret"), "s");
    await mkdir(join(root, "J1", "links"));
    await symlink(join(root, "secret"), join(root, "J1", "links", "file"));
    await symlink(root, join(root, "J1", "links", "folder"));
    await symlink(join(root, "J1", "artifacts", "a.txt"), join(root, "J1", "links", "inner"));
    const paths = ["../secret", "artifacts/../../secret", join(root, "secret"), join(root, "J1", "artifacts", "a.txt")];
    paths.push(
      "links/file",
      "links/folder/secret",
      "artifacts",
      "",
      ".",
      "./artifacts/a.txt",
      "artifacts//a.txt",
      "a\0b",
    );
    paths.push(
      "artifacts/gone.txt",
      "artifacts\\a.txt",
      "C:/a",
      "artifacts/a.txt/b",
      "x".repeat(2_000),
      `${"x".repeat(300)}/a`,
    );
    for (const path of paths) expect([path, await workspace.hasArtifact(path)]).toEqual([path, false]);
    expect(await workspace.hasArtifact("links/inner")).toBe(true);
  });

  it("of a workspace that begins like another one is not that one's", async () => {
    await fileWorkspaces(root).of("job:J10").writeArtifact("artifacts/a.txt", "a");
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.write("memory.md", "x");
    await symlink(join(root, "J10", "artifacts", "a.txt"), join(root, "J1", "a.txt"));
    expect(await workspace.hasArtifact("a.txt")).toBe(false);
  });

  it("is not written through a folder that a tool has made a link", async () => {
    const outside = join(root, "outside");
    await mkdir(outside);
    await mkdir(join(root, "J1"));
    await symlink(outside, join(root, "J1", "artifacts"));
    const workspace = fileWorkspaces(root).of("job:J1");
    await expect(workspace.writeArtifact("artifacts/a.txt", "a")).rejects.toThrow("invalid_file_path");
    await expect(workspace.writeArtifact("artifacts/../a.txt", "a")).rejects.toThrow("invalid_file_path");
    await expect(workspace.writeArtifact("memory.md", "a")).rejects.toThrow("invalid_file_path");
    expect(await readdir(outside)).toEqual([]);
  });
});

describe("a trace", () => {
  const trace = () => join(root, "J1", "trace.jsonl");
  const written = async () => {
    const lines = (await readFile(trace(), "utf8")).split("\n");
    expect(lines.pop()).toBe("");
    return lines
      .map((each) => JSON.parse(each) as TraceLine)
      .map(({ job_id, phase, summary }) => `${job_id} ${phase}${summary}`);
  };

  it("grows by the lines of each turn", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.appendTrace("A", [line("A", "frame"), line("A", "plan")]);
    await workspace.appendTrace("B", [line("B", "reflect")]);
    expect(await written()).toEqual(["A frame", "A plan", "B reflect"]);
    expect(await workspace.readTrace()).toHaveLength(3);
  });

  it("loses an incomplete last line and the lines of an earlier try before a turn is traced again", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.appendTrace("A", [line("A", "frame"), line("A", "plan")]);
    await workspace.appendTrace("B", [line("B", "reflect", " ä"), line("B", "act")]);
    await appendFile(trace(), JSON.stringify(line("B", "act")).slice(0, 40));
    expect(await workspace.readTrace()).toHaveLength(4);
    await workspace.appendTrace("B", [line("B", "reflect", " again")]);
    expect(await written()).toEqual(["A frame", "A plan", "B reflect again"]);
  });

  it("is cut at every byte of its last line and is whole again after the next turn", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.appendTrace("A", [line("A", "frame")]);
    const whole = await readFile(trace());
    const cut = Buffer.from(`${JSON.stringify(line("B", "act", "ä"))}\n`);
    for (let length = 0; length <= cut.length; length++) {
      await writeFile(trace(), Buffer.concat([whole, cut.subarray(0, length)]));
      await workspace.appendTrace("B", [line("B", "act")]);
      expect(await written()).toEqual(["A frame", "B act"]);
    }
  });

  it("keeps lines that are no trace, and is read without them", async () => {
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.write("memory.md", "x");
    await writeFile(trace(), '{"job_id":"A"}\nnot json\n');
    await workspace.appendTrace("A", [line("A", "act")]);
    expect((await readFile(trace(), "utf8")).split("\n")).toHaveLength(4);
    expect(await workspace.readTrace()).toHaveLength(2);
  });

  it("is not written through a link that a tool has put in its place", async () => {
    const outside = join(root, "outside.jsonl");
    const workspace = fileWorkspaces(root).of("job:J1");
    await workspace.write("memory.md", "x");
    await writeFile(outside, "kept");
    await symlink(outside, trace());
    await expect(workspace.appendTrace("A", [line("A", "act")])).rejects.toThrow();
    expect(await workspace.readTrace()).toEqual([]);
    expect(await readFile(outside, "utf8")).toBe("kept");
    expect(await isThere(trace())).toBe(true);
  });
});
