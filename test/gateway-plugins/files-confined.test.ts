// Promise: no path leads `files` out of the workspace and the folders of config.roots.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type Answer, ask, eventPayload, withoutPython } from "./run-plugin.ts";
import { newFolder } from "./workspace.ts";

beforeEach((context) => context.skip(withoutPython !== undefined, withoutPython));

const commands = ["read", "write", "append", "list", "stat", "handle"] as const;

/** `parent/workspace`, and beside it `parent/secret.txt` and `parent/outside/`. */
function place() {
  const parent = newFolder();
  const [workspace, outside] = [join(parent, "workspace"), join(parent, "outside")];
  mkdirSync(workspace);
  mkdirSync(outside);
  writeFileSync(join(parent, "secret.txt"), "secret");
  writeFileSync(join(outside, "secret.txt"), "secret");
  return { parent, workspace, outside };
}

async function files(
  workspace_dir: string | undefined,
  command: string,
  path: unknown,
  config: object = {},
): Promise<Answer> {
  return await ask("files", { command, payload: { path, output_path: path, text: "changed" }, workspace_dir, config });
}

describe("a path that leads out of the workspace", () => {
  it.each([
    "../secret.txt",
    "../outside/new.txt",
    "..",
    "/",
    "/etc/passwd",
    "PARENT/secret.txt",
    "artifacts/../../secret.txt",
    "missing/../../secret.txt",
    "./././../secret.txt",
    "..//secret.txt",
    "../workspace-other",
    "../workspace/../secret.txt",
    "./link",
    "link/new.txt",
    "chain/secret.txt",
    "./file-link",
    "./dangling",
    "inner/up/secret.txt",
    "/proc/self/cwd/secret.txt",
    "/dev/null",
    "/dev/stdin",
  ])("is refused for good by every command: %s", async (path) => {
    const { parent, workspace, outside } = place();
    mkdirSync(join(workspace, "inner"));
    symlinkSync(outside, join(workspace, "link"));
    symlinkSync("link", join(workspace, "chain"));
    symlinkSync("../secret.txt", join(workspace, "file-link"));
    symlinkSync(join(outside, "not-yet.txt"), join(workspace, "dangling"));
    symlinkSync("../..", join(workspace, "inner/up"));

    for (const command of commands) {
      const answer = await files(workspace, command, path.replace("PARENT", parent));
      expect(answer).toMatchObject({ status: "error", retry: false });
      expect(answer.error).toContain("leads out of the workspace");
      expect(answer.error).not.toContain("changed");
    }

    expect(readdirSync(parent).sort()).toEqual(["outside", "secret.txt", "workspace"]);
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(readFileSync(join(parent, "secret.txt"), "utf8")).toBe("secret");
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });

  it("may look as if it did", async () => {
    const { workspace } = place();
    for (const path of ["..a/b.txt", "a..", "...", "artifacts/../c.txt", `${workspace}/d.txt`]) {
      expect(await files(workspace, "write", path)).toMatchObject({ status: "ok" });
    }
    expect(readdirSync(workspace).sort()).toEqual(["...", "..a", "a..", "c.txt", "d.txt"]);
  });
});

describe("a symbolic link inside the workspace", () => {
  it("is followed when it stays there, and stays a link", async () => {
    const { workspace } = place();
    mkdirSync(join(workspace, "artifacts"));
    symlinkSync("artifacts", join(workspace, "latest"));
    const payload = eventPayload(await files(workspace, "write", "latest/a.txt"));
    expect(payload.artifact_path).toBe("artifacts/a.txt");
    expect(readFileSync(join(workspace, "latest/a.txt"), "utf8")).toBe("changed");
  });

  it("is not followed into when the workspace is listed", async () => {
    const { workspace, outside } = place();
    symlinkSync(outside, join(workspace, "link"));
    const answer = await ask("files", { command: "list", payload: { recursive: true }, workspace_dir: workspace });
    expect(eventPayload(answer).entries).toMatchObject([{ path: "link", type: "link" }]);
  });
});

describe("config.roots", () => {
  it("adds folders, by absolute paths; relative paths start in the workspace", async () => {
    const { workspace, outside } = place();
    const config = { roots: [outside] };
    expect(eventPayload(await files(workspace, "read", join(outside, "secret.txt"), config)).content).toBe("secret");
    const written = eventPayload(await files(workspace, "write", "a.txt", config));
    expect(written).toMatchObject({ path: "a.txt", artifact_path: "a.txt" });
    const elsewhere = eventPayload(await files(workspace, "write", join(outside, "b.txt"), config));
    expect(elsewhere).toMatchObject({ path: join(outside, "b.txt") });
    expect(elsewhere).not.toHaveProperty("artifact_path");
  });

  it("are enough without a workspace; relative paths start in the first", async () => {
    const { parent, outside } = place();
    const config = { roots: [outside, join(parent, "workspace")] };
    expect(eventPayload(await files(undefined, "read", "secret.txt", config)).path).toBe(join(outside, "secret.txt"));
    expect(await files(undefined, "read", "../secret.txt", config)).toMatchObject({ status: "error", retry: false });
  });

  it("do not cover a folder whose name only begins like theirs", async () => {
    const { parent } = place();
    mkdirSync(join(parent, "out"));
    const answer = await files(undefined, "read", join(parent, "outside/secret.txt"), { roots: [join(parent, "out")] });
    expect(answer).toMatchObject({ status: "error", retry: false });
  });

  it("may be links themselves", async () => {
    const { parent, outside } = place();
    symlinkSync(outside, join(parent, "alias"));
    const config = { roots: [join(parent, "alias")] };
    expect(eventPayload(await files(undefined, "read", join(parent, "alias/secret.txt"), config)).content).toBe(
      "secret",
    );
  });
});

describe("a folder that keeps turning into a link and back", () => {
  it("never leads out, whatever moment a command meets", async () => {
    const { workspace, outside } = place();
    const folder = join(workspace, "artifacts");
    mkdirSync(folder);
    writeFileSync(join(folder, "secret.txt"), "harmless");
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const workerData = { folder, spare: join(workspace, "spare"), outside, stop };
    const worker = new Worker(flipping, { eval: true, workerData });
    const ended = new Promise((resolve) => worker.on("exit", resolve));
    onTestFinished(async () => {
      Atomics.store(stop, 0, 1);
      await ended;
    });

    const read: unknown[] = [];
    for (let round = 0; round < 20; round++) {
      await files(workspace, "write", `artifacts/${round}.txt`);
      const answer = await files(workspace, "read", "artifacts/secret.txt");
      if (answer.status === "ok") read.push(eventPayload(answer).content);
    }

    expect(read).not.toContain("secret");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });
});

/** Turns the folder into a link to the outside and back, until it is stopped; the plugin may get in its way. */
const flipping = `
  const { renameSync, rmSync, symlinkSync } = require("node:fs");
  const { folder, spare, outside, stop } = require("node:worker_threads").workerData;
  const attempt = (act) => {
    try {
      act();
    } catch {}
  };
  while (Atomics.load(stop, 0) === 0) {
    attempt(() => renameSync(folder, spare));
    attempt(() => symlinkSync(outside, folder));
    attempt(() => rmSync(folder, { recursive: true }));
    attempt(() => renameSync(spare, folder));
  }
`;
