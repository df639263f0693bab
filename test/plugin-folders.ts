// Plugins in temporary folders, for tests: each is a manifest and an executable script.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder for plugins, which is removed with the test. */
export function pluginRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "holdfast-plugins-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

/** Writes an executable file, and the folders that it needs. */
export function writeScript(file: string, text: string | Uint8Array): string {
  mkdirSync(dirname(file), { recursive: true });
  chmodSync(dirname(file), 0o755); // whatever the umask is
  rmSync(file, { force: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

export const shell = (...lines: string[]) => ["#!/bin/sh", ...lines, ""].join("\n");

export const node = (...lines: string[]) => ["#!/usr/bin/env node", ...lines, ""].join("\n");

export type PluginFiles = {
  /** Lines of the manifest that replace or extend the usual ones, by key; null leaves a line out. */
  readonly manifest?: Readonly<Record<string, string | null>>;
  readonly script?: string;
};

/** Writes a plugin into a folder of the root; its name is the folder's unless the manifest says another. */
export function writePlugin(root: string, path: string, { manifest = {}, script }: PluginFiles = {}): string {
  const folder = join(root, path);
  writeScript(join(folder, "run"), script ?? shell(`echo '{"status":"ok","result":"done"}'`));
  const lines = {
    manifest_spec: "ductile.plugin",
    manifest_version: "1",
    name: path.split("/").at(-1) ?? path,
    version: "1.0.0",
    protocol: "2",
    entrypoint: "run",
    commands: "[{ name: handle, type: write }, { name: health, type: read }]",
    ...manifest,
  };
  const text = Object.entries(lines).flatMap(([key, value]) => (value === null ? [] : [`${key}: ${value}\n`]));
  writeFileSync(join(folder, "manifest.yaml"), text.join(""));
  return folder;
}

/** The process ids that a script has written to a file. A file that was created and is still empty holds none. */
export function writtenPids(file: string): readonly number[] {
  return existsSync(file) ? (readFileSync(file, "utf8").match(/\d+/g) ?? []).map(Number) : [];
}

/** False also for a process that was killed and only waits to be buried by its parent. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (thrown) {
    // Systems without /proc: the signal was all there is to ask.
    return (
      thrown instanceof Error && "syscall" in thrown && thrown.syscall === "open" && !existsSync("/proc/self/stat")
    );
  }
}
