import { beforeEach, expect, it } from "vitest";
import { directScope, hostInTest, openThread } from "../../../test/thread-states.ts";
import { fileState } from "./file-state.ts";

let files: ReturnType<typeof fileState>;

beforeEach(async () => {
  const host = await hostInTest();
  files = fileState(host, directScope(host, await openThread(host)));
  await files.writeFile("/a.md", "First line\nsecond (a+b)\r\nThird line");
  await files.writeFile("/notes/b.json", '{"line": 1}');
  await files.writeFile("/c.png", "line");
  await files.writeFile("/d.txt", "line\0binary");
});

it("finds words as they stand, in text files alone", async () => {
  expect(await files.grepFiles("line")).toEqual([
    { path: "/a.md", line: 1, text: "First line" },
    { path: "/a.md", line: 3, text: "Third line" },
    { path: "/notes/b.json", line: 1, text: '{"line": 1}' },
  ]);
  expect(await files.grepFiles("(a+b)")).toEqual([{ path: "/a.md", line: 2, text: "second (a+b)" }]);
});

it("finds what a regular expression between slashes says", async () => {
  expect((await files.grepFiles("/^(first|third)/i")).map(({ line }) => line)).toEqual([1, 3]);
  expect(await files.grepFiles("/^(first|third)/")).toEqual([]);
});

it("looks below a directory, in one file, without regard to case, and no further than it is asked to", async () => {
  expect((await files.grepFiles("line", { path: "notes" })).map(({ path }) => path)).toEqual(["/notes/b.json"]);
  expect((await files.grepFiles("LINE", { path: "/a.md", ignoreCase: true })).map(({ line }) => line)).toEqual([1, 3]);
  expect(await files.grepFiles("line", { limit: 1 })).toHaveLength(1);
  expect(await files.grepFiles("line", { path: "/nowhere" })).toEqual([]);
});

it("shows a long line cut", async () => {
  await files.writeFile("/long.txt", `needle${"x".repeat(10_000)}`);
  const [hit] = await files.grepFiles("needle");
  expect(hit?.text).toHaveLength(2_000);
});

it("gives up on an expression that would take for ever, and refuses one that is none", async () => {
  await files.writeFile("/evil.txt", `${"a".repeat(60)}!`);
  await expect(files.grepFiles("/^(a+)+$/")).rejects.toThrow("invalid_argument: pattern takes too long");
  await expect(files.grepFiles("/(/")).rejects.toThrow("invalid_argument: pattern is no regular expression");
  await expect(files.grepFiles("")).rejects.toThrow(/^invalid_argument: /);
});
