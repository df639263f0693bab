import { beforeEach, describe, expect, it } from "vitest";
import { commit, directScope, hostInTest, keptScope, openThread } from "../../../test/thread-states.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import type { Host } from "../host.ts";
import { fileState } from "./file-state.ts";
import type { FileStat } from "./thread-state.ts";

let host: Host;
let thread: Thread;

beforeEach(async () => {
  host = await hostInTest();
  thread = await openThread(host);
});

const direct = () => fileState(host, directScope(host, thread));
const paths = (stats: readonly FileStat[]) => stats.map(({ path }) => path);
const textOf = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString();

// The same promises where every write is stored at once, and where they are kept for a commit.
describe.each([
  ["stored at once", () => direct()],
  ["kept for a commit", () => fileState(host, keptScope(host, thread))],
] as const)("files whose writes are %s", (_, open) => {
  it("are read as they were written last", async () => {
    const files = open();
    await files.writeFile("notes/plan.md", "one");
    const stat = await files.writeFile("/notes/plan.md", "twö", { metadata: { by: "me" } });
    expect(stat).toMatchObject({ path: "/notes/plan.md", name: "plan.md", mimeType: "text/markdown", size: 4 });
    expect(await files.statFile("/notes/./plan.md")).toMatchObject({
      size: 4,
      metadata: { by: "me" },
      isDirectory: false,
    });
    expect(textOf(await files.readFile("/notes/plan.md"))).toBe("twö");
    expect(await files.getFileStats()).toEqual({ files: 1, bytes: 4 });
  });

  it("keep bytes as they are, an empty file included", async () => {
    const files = open();
    const bytes = Buffer.from([0, 255, 10, 13]);
    await files.writeFile("/a.bin", bytes);
    bytes.fill(9);
    await files.writeFile("/empty", new Uint8Array());
    expect(Buffer.from((await files.readFile("/a.bin")) ?? [])).toEqual(Buffer.from([0, 255, 10, 13]));
    expect(await files.readFile("/empty")).toHaveLength(0);
    expect(await files.statFile("/a.bin")).toMatchObject({ mimeType: "application/octet-stream" });
  });

  it("are not there until they are written, and gone once they are removed", async () => {
    const files = open();
    expect([await files.readFile("/a"), await files.readFileStream("/a"), await files.statFile("/a")]).toEqual([
      null,
      null,
      null,
    ]);
    expect(await files.unlinkFile("/a")).toBe(false);
    await files.writeFile("/a", "x");
    expect(await files.unlinkFile("/a")).toBe(true);
    expect([await files.readFile("/a"), await files.findFiles("**")]).toEqual([null, []]);
  });

  it("stand in directories that are there because of them", async () => {
    const files = open();
    await files.writeFile("/a/b/c.txt", "x");
    await files.writeFile("/a/d.txt", "x");
    await files.mkdirFile("/empty/within");
    expect(paths(await files.readdirFile("/"))).toEqual(["/a", "/empty"]);
    expect((await files.readdirFile("/a")).map(({ path, isDirectory }) => [path, isDirectory])).toEqual([
      ["/a/b", true],
      ["/a/d.txt", false],
    ]);
    expect(paths(await files.readdirFile("/empty"))).toEqual(["/empty/within"]);
    expect(await files.statFile("/a/b")).toMatchObject({ isDirectory: true, name: "b", size: 0 });
    expect(await files.getFileStats()).toEqual({ files: 2, bytes: 2 });
    await expect(files.readdirFile("/a/d.txt")).rejects.toThrow(/^file_not_directory: /);
    await expect(files.readdirFile("/nowhere")).rejects.toThrow(/^file_not_found: /);
  });

  it("and directories are not taken for one another", async () => {
    const files = open();
    await files.writeFile("/a/b", "x");
    await expect(files.writeFile("/a", "x")).rejects.toThrow(/^file_is_directory: /);
    await expect(files.writeFile("/a/b/c", "x")).rejects.toThrow('file_exists: "/a/b" is a file');
    await expect(files.readFile("/a")).rejects.toThrow(/^file_is_directory: /);
    await expect(files.unlinkFile("/a")).rejects.toThrow(/^file_is_directory: /);
    await expect(files.mkdirFile("/a/b")).rejects.toThrow(/^file_exists: /);
    await expect(files.writeFile("/", "x")).rejects.toThrow(/^invalid_file_path: /);
  });

  it("keep a directory from being removed", async () => {
    const files = open();
    await files.mkdirFile("/a");
    await files.writeFile("/a/b", "x");
    await expect(files.rmdirFile("/a")).rejects.toThrow(/^directory_not_empty: /);
    await files.unlinkFile("/a/b");
    await files.rmdirFile("/a");
    expect(await files.statFile("/a")).toBeNull();
    await expect(files.rmdirFile("/a")).rejects.toThrow(/^file_not_found: /);
    await expect(files.rmdirFile("/")).rejects.toThrow(/^invalid_file_path: /);
  });

  it("move one by one and with their directory", async () => {
    const files = open();
    await files.writeFile("/a/one.txt", "1");
    await files.writeFile("/a/deep/two.txt", "2");
    await files.mkdirFile("/a/hollow");
    await files.moveFile("/a", "/b/c");
    expect(paths(await files.findFiles("**"))).toEqual(["/b/c/deep/two.txt", "/b/c/one.txt"]);
    expect(await files.statFile("/b/c/hollow")).toMatchObject({ isDirectory: true });
    expect(await files.statFile("/a")).toBeNull();
    expect(textOf(await files.readFile("/b/c/deep/two.txt"))).toBe("2");
    await files.moveFile("/b/c/hollow", "/hollow");
    expect([await files.statFile("/b/c/hollow"), (await files.statFile("/hollow"))?.isDirectory]).toEqual([null, true]);
    await files.renameFile("/b/c/one.txt", "1.md");
    expect(await files.statFile("/b/c/1.md")).toMatchObject({ name: "1.md" });
    expect(textOf(await files.readFile("/b/c/1.md"))).toBe("1");
  });

  it("do not move onto others, into themselves or out of the thread", async () => {
    const files = open();
    await files.writeFile("/a/one", "1");
    await files.writeFile("/two", "2");
    await expect(files.moveFile("/two", "/a/one")).rejects.toThrow(/^file_exists: /);
    await expect(files.moveFile("/two", "/a")).rejects.toThrow(/^file_exists: /);
    await expect(files.moveFile("/a", "/a/b")).rejects.toThrow("lies inside");
    await expect(files.moveFile("/a", "/two/a")).rejects.toThrow(/^file_exists: /);
    await expect(files.moveFile("/three", "/four")).rejects.toThrow(/^file_not_found: /);
    await expect(files.moveFile("/two", "../two")).rejects.toThrow(/^invalid_file_path: /);
    await expect(files.renameFile("/two", "a/b")).rejects.toThrow(/^invalid_file_path: /);
    await expect(files.renameFile("/two", "..")).rejects.toThrow(/^invalid_file_path: /);
    expect(paths(await files.findFiles("**"))).toEqual(["/a/one", "/two"]);
  });

  it("are found by globs", async () => {
    const files = open();
    for (const path of ["/a.md", "/x/b.md", "/x/y/c.md", "/x/d.txt"]) await files.writeFile(path, "x");
    expect(paths(await files.findFiles("x/**/*.md"))).toEqual(["/x/b.md", "/x/y/c.md"]);
    expect(paths(await files.findFiles("/x/b.md/**"))).toEqual(["/x/b.md"]);
  });
});

it("what is kept is read by nobody else until it is committed, and by everybody afterwards", async () => {
  const scope = keptScope(host, thread);
  const files = fileState(host, scope);
  await direct().writeFile("/old", "x");
  await files.writeFile("/new", "y");
  await files.unlinkFile("/old");
  expect([paths(await files.findFiles("**")), paths(await direct().findFiles("**"))]).toEqual([["/new"], ["/old"]]);
  await commit(host, thread.id, scope.buffer);
  expect(paths(await direct().findFiles("**"))).toEqual(["/new"]);
  expect(textOf(await direct().readFile("/new"))).toBe("y");
});

it("a file that was moved within one call is stored under its last path alone", async () => {
  const scope = keptScope(host, thread);
  const files = fileState(host, scope);
  await files.writeFile("/draft", "text");
  await files.moveFile("/draft", "/final");
  await commit(host, thread.id, scope.buffer);
  expect(paths(await direct().findFiles("**"))).toEqual(["/final"]);
  expect(textOf(await direct().readFile("/final"))).toBe("text");
});

it("other threads do not see a thread's files", async () => {
  await direct().writeFile("/a", "x");
  const other = fileState(host, directScope(host, await openThread(host)));
  expect([await other.readFile("/a"), await other.findFiles("**")]).toEqual([null, []]);
});

it("a file of more than 32 MiB is refused, and nothing is stored", async () => {
  await expect(direct().writeFile("/big", new Uint8Array(32 * 1024 * 1024 + 1))).rejects.toThrow(/^file_too_large: /);
  expect(await direct().getFileStats()).toEqual({ files: 0, bytes: 0 });
});

it("a thread has at most 10,000 files", async () => {
  const scope = keptScope(host, thread);
  const files = fileState(host, scope);
  const file = {
    name: "x",
    mime_type: "text/plain",
    size: 0,
    is_directory: false,
    hash: "",
    width: null,
    height: null,
  };
  for (let index = 0; index < 10_000; index++) {
    const path = `/file ${index}`;
    scope.buffer.writes.push({ write: "file", thread_id: thread.id, file: { ...file, path, metadata: null } });
  }
  await expect(files.writeFile("/one more", "x")).rejects.toThrow(/^too_many_files: /);
  await files.writeFile("/file 7", "x");
});

it("a stream gives the bytes piece by piece", async () => {
  const bytes = Buffer.alloc(200_000, "abc");
  await direct().writeFile("/a", bytes);
  const pieces: Uint8Array[] = [];
  for await (const piece of (await direct().readFileStream("/a")) ?? []) pieces.push(piece);
  expect(pieces.length).toBeGreaterThan(1);
  expect(Buffer.concat(pieces)).toEqual(bytes);
});
