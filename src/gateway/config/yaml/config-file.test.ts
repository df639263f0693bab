import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderWith } from "../config-in-test.ts";
import { readConfigFile } from "./config-file.ts";

it("a named pipe is refused, and its writer is not waited for", () => {
  using folder = folderWith({});
  const path = join(folder.path, "pipe.yaml");
  execFileSync("mkfifo", [path]);
  expect(readConfigFile(path)).toEqual({ problem: "This is not a regular file." });
});
