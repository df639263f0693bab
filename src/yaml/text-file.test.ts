import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderWith } from "./folder-in-test.ts";
import { readTextFile } from "./text-file.ts";

it("a named pipe is refused, and its writer is not waited for", () => {
  using folder = folderWith({});
  const path = join(folder.path, "pipe.yaml");
  execFileSync("mkfifo", [path]);
  expect(readTextFile(path)).toEqual({ problem: "This is not a regular file.", code: "unreadable" });
});
