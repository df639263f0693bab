import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { UnknownMap } from "../contracts/json.ts";
import { createSafeWorkspace } from "./safe-workspace.ts";

async function open() {
  const base = await mkdtemp(join(tmpdir(), "holdfast-workspace-"));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const [root, outside, applicationRoot] = [join(base, "root"), join(base, "outside"), join(base, "program")];
  for (const folder of [root, outside, applicationRoot]) await mkdir(folder);
  await writeFile(join(outside, "secret.txt"), "secret");
  const safe = createSafeWorkspace({ enabled: true, root, applicationRoot });
  const { path } = (await safe.prepare({ handle: "job" })) as { path: string };
  return { base, root, outside, applicationRoot, safe, folder: path };
}

const code = (name: string) => ({ code: `agents_workspace_${name}` });

it("keeps files by name, and lists its workspaces in the order of theirs", async () => {
  const { safe, folder, root } = await open();
  await safe.prepare({ handle: "a" });
  expect(await safe.prepare({ handle: "job" })).toMatchObject({ success: true, path: folder });
  await writeFile(join(root, "file"), "");
  const { workspaces } = (await safe.list()) as { workspaces: UnknownMap[] };
  expect(workspaces.map(({ handle }) => handle)).toEqual(["a", "job"]);
  for (const [content, kept] of [
    ["one", "one"],
    [7, "7"],
    [true, "1"],
    [["no text"], ""],
  ] as const) {
    const at = { handle: "job", path: "b/c.txt" };
    expect(await safe.write({ ...at, content })).toMatchObject({ path: "b/c.txt", bytes: kept.length });
    expect(await safe.read(at)).toMatchObject({ success: true, content: kept });
  }
});

it("follows no link out of a workspace, neither to read nor to write", async () => {
  const { safe, folder, outside } = await open();
  await symlink(outside, join(folder, "away"));
  await symlink(join(outside, "secret.txt"), join(folder, "leaf"));
  await symlink(join(outside, "new.txt"), join(folder, "dangling"));
  for (const path of ["away/secret.txt", "leaf", "dangling", "away/deeper/new.txt"]) {
    expect(await safe.read({ handle: "job", path }), path).toMatchObject(code("path_escape"));
    expect(await safe.write({ handle: "job", path, content: "x" }), path).toMatchObject(code("path_escape"));
  }
  expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret");
  await expect(readFile(join(outside, "new.txt"))).rejects.toThrow("ENOENT");
});

it("follows a link between folders of the same workspace, and none that is the workspace itself", async () => {
  const { safe, folder, root, outside } = await open();
  await mkdir(join(folder, "real"));
  await symlink(join(folder, "real"), join(folder, "other"));
  expect(await safe.write({ handle: "job", path: "other/a", content: "x" })).toMatchObject({ success: true });
  expect(await readFile(join(folder, "real", "a"), "utf8")).toBe("x");
  await symlink(outside, join(root, "elsewhere"));
  expect(await safe.prepare({ handle: "elsewhere" })).toMatchObject(code("prepare_failed"));
  expect(await safe.read({ handle: "elsewhere", path: "secret.txt" })).toMatchObject(code("not_found"));
});

it("tells what is wrong with a file", async () => {
  const { safe } = await open();
  const at = (path: string) => ({ handle: "job", path });
  await safe.write({ ...at("folder/file"), content: "x" });
  expect(await safe.read(at("none"))).toMatchObject(code("path_not_found"));
  expect(await safe.read(at("none/file"))).toMatchObject(code("path_not_found"));
  expect(await safe.read(at("folder/file/below"))).toMatchObject(code("path_not_found"));
  expect(await safe.read(at("folder"))).toMatchObject(code("file_not_readable"));
  expect(await safe.write(at("folder"))).toMatchObject(code("file_write_failed"));
  expect(await safe.write(at("folder/file/below"))).toMatchObject(code("directory_create_failed"));
  expect(await safe.write(at("a\0b"))).toMatchObject(code("invalid_path"));
});

it("says what is wrong with the words of a request before it says where it is", async () => {
  const { safe } = await open();
  const off = createSafeWorkspace({});
  const nowhere = { handle: "none", path: "../a" };
  for (const verb of ["read", "write"] as const) {
    expect(await off[verb]({ handle: "..", path: "../a" })).toMatchObject(code("invalid_handle"));
    for (const closed of [off, safe]) expect(await closed[verb](nowhere)).toMatchObject(code("invalid_path"));
    expect(await off[verb]({ handle: "none", path: "a" })).toMatchObject(code("disabled"));
    expect(await safe[verb]({ handle: "none", path: "a" })).toMatchObject(code("not_found"));
  }
  expect(await off.prepare({ handle: "a/b" })).toMatchObject(code("invalid_handle"));
});

it("takes a path without the space around it, and the workspace itself for no file", async () => {
  const { safe } = await open();
  expect(await safe.write({ handle: "job", path: " a/b.txt\n", content: "x" })).toMatchObject({ path: "a/b.txt" });
  expect(await safe.read({ handle: "job", path: "\ta/b.txt" })).toMatchObject({ path: "a/b.txt", content: "x" });
  for (const path of [".", "./", " ./. "]) {
    expect(await safe.read({ handle: "job", path }), path).toMatchObject(code("file_not_readable"));
    expect(await safe.write({ handle: "job", path, content: "x" }), path).toMatchObject(code("path_escape"));
    expect(await safe.read({ handle: "none", path }), path).toMatchObject(code("not_found"));
  }
  for (const path of [" ", "", " /a", "\0/a", " ../a", ".. /../a"]) {
    expect(await safe.read({ handle: "job", path }), path).toMatchObject(code("invalid_path"));
  }
});

it("is nowhere near the program", async () => {
  const { base, root, applicationRoot } = await open();
  const inside = join(applicationRoot, "data");
  await mkdir(inside);
  await symlink(inside, join(base, "link"));
  const asked = (given: object) => createSafeWorkspace({ enabled: true, applicationRoot, ...given }).list();
  for (const near of [inside, applicationRoot, base, join(base, "link")]) {
    expect(await asked({ root: near }), near).toMatchObject(code("root_not_isolated"));
  }
  for (const missing of [{}, { root: join(base, "none") }]) {
    expect(await asked(missing)).toMatchObject(code("root_unavailable"));
  }
  expect(await asked({ root })).toMatchObject({ success: true });
  expect(await createSafeWorkspace({ root, applicationRoot }).list()).toMatchObject(code("disabled"));
});
