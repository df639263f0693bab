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

it("tells of a folder or a YAML file that comes into a folder, and of no other file in it", async () => {
  const { folder, watch } = newFolder();
  watch.only([folder], Date.now());
  let isTold = false;
  void watch.changed().then(() => {
    isTold = true;
  });
  const other = watchFiles((text) => {
    throw new Error(text);
  });
  onTestFinished(() => other.close());
  other.only([join(folder, "data.txt")], Date.now());
  for (const name of [".hidden.yaml", "data.txt"]) writeFileSync(join(folder, name), "");
  await other.changed();
  expect(isTold).toBe(false);
  mkdirSync(join(folder, "plugin"));
  await watch.changed();
  expect(watch.take()).toBe(join(folder, "plugin"));
  writeFileSync(join(folder, "more.yaml"), "");
  await watch.changed();
  expect(watch.take()).toBe(join(folder, "more.yaml"));
});

it("tells of a file that comes and ends as a pattern does, and of what has come before it began to look", async () => {
  const { folder, watch } = newFolder();
  writeFileSync(join(folder, "other.yaml"), "");
  const pattern = join(folder, "*.workflow.yaml");
  watch.only([pattern], 0);
  for (const name of ["more.yaml", ".hidden.workflow.yaml", "new.workflow.yaml"]) writeFileSync(join(folder, name), "");
  await watch.changed();
  expect(watch.take()).toBe(join(folder, "new.workflow.yaml"));
  watch.only([join(folder, "data.txt")], Date.now());
  watch.only([pattern], 0);
  await watch.changed();
  expect(watch.take()).toBe(pattern);
});

it("tells of a folder that has come into one before it began to look", async () => {
  const { folder, watch } = newFolder();
  mkdirSync(join(folder, "plugin"));
  watch.only([folder], 0);
  await watch.changed();
  expect(watch.take()).toBe(folder);
});

it("tells of the folder in which a file is to be, when that is not there yet either", async () => {
  const { folder, watch } = newFolder();
  const file = join(folder, "parts", "more", "project.mts");
  watch.only([file], Date.now());
  mkdirSync(join(folder, "parts"));
  await watch.changed();
  expect(watch.take()).toBe(file);
});
