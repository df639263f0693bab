import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { openProject } from "./project.ts";
import { startServing } from "./running-server.ts";

it("serves from a machine that has nothing yet of a database with tokens, and tells nothing once it has ended", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "holdfast-serving-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  // With a database elsewhere, nothing but the server itself makes the folder.
  const elsewhere = { HOLDFAST_MODEL: "demo", DATABASE_URL: "postgres://elsewhere.invalid/holdfast" };
  for (const data of ["here", "there"]) {
    const opened = await openProject({ data, cwd, env: elsewhere });
    const project = { ...opened, options: () => ({ ...opened.options(), backend: sqlite(join(cwd, "shared.db")) }) };
    const serving = await startServing(project, { port: 0 });
    // Shown once, by whoever makes it: the second finds that there has been one.
    expect(serving.newToken !== undefined).toBe(data === "here");
    const told = JSON.parse(readFileSync(join(cwd, data, "server.json"), "utf8"));
    expect(told).toEqual({ url: serving.url, pid: process.pid, proof_key: expect.any(String) });
    await serving.close();
    expect(() => readFileSync(join(cwd, data, "server.json"))).toThrow("ENOENT");
  }
});
