import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { watchFiles } from "./watch-files.ts";

function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-watch-"));
  const watch = watchFiles((text) => {
    throw new Error(text);
  });
  onTestFinished(() => {
    watch.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, watch };
}

it("tells of what has changed before it began to look", async () => {
  const { folder, watch } = newFolder();
  const file = join(folder, "project.mts");
  writeFileSync(file, "");
  watch.only([file], 0);
  await watch.changed();
  expect(watch.take()).toBe(file);
});

it("tells of the folder in which a file is to be, when that is not there yet either", async () => {
  const { folder, watch } = newFolder();
  const file = join(folder, "parts", "more", "project.mts");
  watch.only([file], Date.now());
  mkdirSync(join(folder, "parts"));
  await watch.changed();
  expect(watch.take()).toBe(file);
});
