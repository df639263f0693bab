import { beforeEach, describe, expect, it } from "vitest";
import { withDriver } from "../../test/changed-driver.ts";
import { ADMINISTRATOR, type Calls, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { DOWNLOAD_FILE, MOST_FILE_BYTES } from "./files.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("the operations on files", () => {
  let world: DeskWorld;
  let ann: Calls;
  let thread_id: string;

  beforeEach(async () => {
    world = await deskWorld({ agents: [agent({ slug: "desk", model: scriptedModel([says("Hello.")]) })] });
    await world.grant("desk", 7, 8);
    ann = world.as(7);
    thread_id = (await ann("holdfast/open-thread", { agent: "desk" })).id;
  });

  const write = (calls: Calls, path: string, more: object = {}) =>
    calls("holdfast/write-file", { thread_id, path, data: base64("one"), ...more });

  it("write, read, list and delete what belongs to a thread", async () => {
    expect(await write(ann, "notes/plan.md")).toMatchObject({
      path: "/notes/plan.md",
      mime_type: "text/markdown",
      size: 3,
    });
    expect(await ann("holdfast/read-file", { thread_id, path: "/notes/plan.md" })).toMatchObject({
      ...{ path: "/notes/plan.md", name: "plan.md", size: 3, is_directory: false, data: base64("one") },
    });
    await write(ann, "a.bin", { mime_type: "application/x-own; v=1" });
    const paths = async (input: object) => {
      const { files, has_more } = await ann("holdfast/list-files", { thread_id, ...input });
      return [...files.map(({ path }: { path: string }) => path), ...(has_more ? ["…"] : [])];
    };
    expect(await paths({})).toEqual(["/a.bin", "/notes"]);
    expect(await paths({ directory: "notes" })).toEqual(["/notes/plan.md"]);
    expect(await paths({ deep: "true", limit: "1" })).toEqual(["/a.bin", "…"]);
    expect(await paths({ deep: true, after: "/a.bin" })).toEqual(["/notes/plan.md"]);
    expect(await paths({ deep: true, directory: "/notes" })).toEqual(["/notes/plan.md"]);
    expect(await ann("holdfast/delete-file", { thread_id, path: "notes/plan.md" })).toEqual({ deleted: true });
    expect(await ann("holdfast/delete-file", { thread_id, path: "notes/plan.md" })).toMatchObject({
      code: "file_not_found",
    });
    expect(await ann("holdfast/read-file", { thread_id, path: "notes/plan.md" })).toMatchObject({
      code: "file_not_found",
    });
    expect(await ann("holdfast/list-files", { thread_id, directory: "a.bin" })).toMatchObject({
      code: "file_not_directory",
    });
    expect(await paths({ directory: "/" })).toEqual(["/a.bin"]);
  });

  it("are there for whose thread it is, and for nobody else but those who manage threads", async () => {
    await write(ann, "a.txt");
    for (const [name, more] of [
      ["list-files", {}],
      ["read-file", { path: "a.txt" }],
      ["download-file", { path: "a.txt" }],
      ["write-file", { path: "a.txt", data: "" }],
      ["delete-file", { path: "a.txt" }],
    ] as const) {
      expect(await world.as(8)(`holdfast/${name}`, { thread_id, ...more }), name).toMatchObject({
        code: "thread_not_found",
      });
    }
    expect(await world.as(ADMINISTRATOR)("holdfast/read-file", { thread_id, path: "a.txt" })).toMatchObject({
      size: 3,
    });
  });

  it("stay below the ceiling of a token", async () => {
    await write(ann, "a.txt");
    const reader = world.as(7, ceiling(7, "files.read"));
    expect(await reader("holdfast/read-file", { thread_id, path: "a.txt" })).toMatchObject({ size: 3 });
    expect(await write(reader, "a.txt")).toMatchObject({ code: "ability_forbidden" });
    const other = world.as(7, ceiling(7, "threads.read"));
    expect(await other("holdfast/list-files", { thread_id })).toMatchObject({ code: "ability_forbidden" });
  });

  it.each([
    ["../secret"],
    ["a/../b"],
    ["/.."],
    ["a\\..\\b"],
    ["a\0b"],
    ["a\nb"],
    ["\\\\host\\share"],
    [" "],
    ["x".repeat(1_025)],
    ["\ud800"],
  ])("refuse the path %j wherever one is taken", async (path) => {
    const refused = { code: "invalid_file_path" };
    expect(await write(ann, path)).toMatchObject(refused);
    expect(await ann("holdfast/read-file", { thread_id, path })).toMatchObject(refused);
    expect(await ann(DOWNLOAD_FILE, { thread_id, path })).toMatchObject(refused);
    expect(await ann("holdfast/delete-file", { thread_id, path })).toMatchObject(refused);
    expect(await ann("holdfast/list-files", { thread_id, directory: path })).toMatchObject(refused);
    expect(await ann("holdfast/list-files", { thread_id, after: path })).toMatchObject(refused);
  });

  it("find nothing of the machine under its absolute paths", async () => {
    for (const path of ["/etc/passwd", "//etc/passwd", "file:///etc/passwd", "%2e%2e/etc/passwd"]) {
      expect(await ann("holdfast/read-file", { thread_id, path }), path).toMatchObject({ code: "file_not_found" });
    }
  });

  it("neither take nor answer more than fits into JSON, and give larger ones as bytes", async () => {
    const large = "A".repeat(Math.ceil((MOST_FILE_BYTES + 3) / 3) * 4);
    expect(await write(ann, "large.bin", { data: large })).toMatchObject({ code: "file_too_large" });
    const state = await (await world.holdfast.threads.get(thread_id)).state();
    await state.writeFile("/large.bin", new Uint8Array(MOST_FILE_BYTES + 1));
    expect(await ann("holdfast/read-file", { thread_id, path: "large.bin" })).toMatchObject({ code: "file_too_large" });
    const { bytes, ...about } = await ann(DOWNLOAD_FILE, { thread_id, path: "large.bin" });
    expect(about).toEqual({ path: "/large.bin", mime_type: "application/octet-stream" });
    expect(bytes.length).toBe(MOST_FILE_BYTES + 1);
  });

  it("name the field that is wrong", async () => {
    const message = (field: string) => ({ code: "invalid_input", message: expect.stringContaining(`${field}: `) });
    expect(await write(ann, "a", { data: "not base64!" })).toMatchObject(message("data"));
    expect(await write(ann, "a", { mime_type: "text/html\r\nX: y" })).toMatchObject(message("mime_type"));
    expect(await ann("holdfast/write-file", { thread_id, data: "" })).toMatchObject(message("path"));
    expect(await ann("holdfast/list-files", { thread_id, limit: 0 })).toMatchObject(message("limit"));
    expect(await ann("holdfast/list-files", {})).toMatchObject(message("thread_id"));
  });

  it("refuse a directory where a file is wanted, and a file on the way", async () => {
    await write(ann, "a/b.txt");
    expect(await ann("holdfast/read-file", { thread_id, path: "a" })).toMatchObject({ code: "file_is_directory" });
    expect(await write(ann, "a")).toMatchObject({ code: "file_is_directory" });
    expect(await ann("holdfast/delete-file", { thread_id, path: "a" })).toMatchObject({ code: "file_is_directory" });
    expect(await write(ann, "a/b.txt/c")).toMatchObject({ code: "file_exists" });
    expect(await write(ann, "/")).toMatchObject({ code: "invalid_file_path" });
  });
});

it("lists a directory by reading it once, and nothing beside it", async () => {
  let read = 0;
  const backend = withDriver(sqlite(":memory:"), ({ all }) => ({
    async all(sql, params) {
      const rows = await all(sql, params);
      if (/from files\b/.test(sql)) read += rows.length;
      return rows;
    },
  }));
  const { holdfast, as } = await deskWorld({
    backend,
    agents: [agent({ slug: "shop", model: async () => says("Done.") })],
  });
  const owner = as(ADMINISTRATOR);
  const { id: thread_id } = await owner("holdfast/open-thread", { agent: "shop" });
  const state = await (await holdfast.threads.get(thread_id)).state();
  const deepest = `/${"d".repeat(1_020)}`;
  const files = ["/a", "/b", "/c*/1", "/c*/2/3", "/cd/4", `${deepest}/e`];
  for (const path of files) await state.writeFile(path, "x");
  const list = async (input: object) => {
    read = 0;
    const { files: found } = await owner("holdfast/list-files", { thread_id, ...input });
    return found.map(({ path }: { path: string }) => path);
  };
  expect(await list({ deep: true })).toEqual(files);
  expect(read).toBe(6);
  expect(await list({})).toEqual(["/a", "/b", "/c*", "/cd", deepest]);
  expect(read).toBe(6);
  expect(await list({ deep: true, directory: "c*" })).toEqual(["/c*/1", "/c*/2/3"]);
  expect(await list({ deep: true, directory: "cd" })).toEqual(["/cd/4"]);
  expect(read).toBe(1);
  expect(await list({ deep: true, directory: deepest })).toEqual([`${deepest}/e`]);
  const odd = { thread_id, deep: true };
  expect(await owner("holdfast/list-files", { ...odd, directory: "a" })).toMatchObject({ code: "file_not_directory" });
  expect(await owner("holdfast/list-files", { ...odd, directory: "z" })).toMatchObject({ code: "file_not_found" });
});
