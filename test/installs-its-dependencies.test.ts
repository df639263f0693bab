import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("../scripts/ensure-dependencies.mjs", import.meta.url));

// Stands in for npm: takes its time, logs that it ran, and links the Node that a real install would bring.
const npm = `#!${process.execPath}
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
appendFileSync("npm.log", process.argv.slice(2).join(" ") + "\\n");
await new Promise((resolve) => setTimeout(resolve, 300));
if (process.env.NPM_FAILS) process.exit(1);
if (process.env.NPM_FAILS_ONCE && readFileSync("npm.log", "utf8").trim().split("\\n").length === 1) process.exit(1);
rmSync("node_modules", { recursive: true, force: true });
mkdirSync("node_modules/.bin", { recursive: true });
symlinkSync(${JSON.stringify(process.execPath)}, "node_modules/.bin/node");
`;

const clones: string[] = [];
afterEach(() => {
  for (const clone of clones.splice(0)) rmSync(clone, { recursive: true, force: true });
});

// npm is a shell script on Windows, which cannot be put on the path like this.
describe.skipIf(process.platform === "win32")("a fresh clone", () => {
  it("installs its dependencies before the first command, and only then", async () => {
    const clone = freshClone();
    expect((await ensure(clone)).output).toBe(
      "Installing the dependencies with npm ci, because they are not there yet.",
    );
    expect(await ensure(clone)).toEqual({ code: 0, output: "" });
    expect(installs(clone)).toBe(1);
  });

  it("installs once when two commands start at the same time", async () => {
    const clone = freshClone();
    const both = await Promise.all([ensure(clone), ensure(clone)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(installs(clone)).toBe(1);
  });

  it("installs again when the lockfile has changed or its Node is gone", async () => {
    const clone = freshClone();
    await ensure(clone);
    writeFileSync(join(clone, "package-lock.json"), "{ }");
    expect((await ensure(clone)).output).toContain("package-lock.json has changed");
    rmSync(join(clone, "node_modules", ".bin", "node"));
    expect((await ensure(clone, { PATH: join(clone, "bin") })).output).toContain("node_modules/.bin/node does not run");
    expect(installs(clone)).toBe(3);
  });

  it("says in one sentence that an install failed, and tries again the next time", async () => {
    const clone = freshClone();
    const failed = await ensure(clone, { NPM_FAILS: "1" });
    expect(failed.code).toBe(1);
    expect(failed.output.split("\n").at(-1)).toMatch(/^The dependencies are not installed: npm ci did not succeed/);
    expect((await ensure(clone)).code).toBe(0);
    expect(installs(clone)).toBe(2);
  });

  it("gets over the remains of an install that was killed", async () => {
    const clone = freshClone();
    mkdirSync(join(clone, "node_modules", "half"), { recursive: true });
    const { code, output } = await ensure(clone, { NPM_FAILS_ONCE: "1" });
    expect(output).toContain("the remains of an install that was cut off");
    expect(code).toBe(0);
    expect(installs(clone)).toBe(2);
  });
});

function freshClone(): string {
  const clone = mkdtempSync(join(tmpdir(), "holdfast-clone-"));
  clones.push(clone);
  for (const folder of ["scripts", "bin"]) mkdirSync(join(clone, folder));
  cpSync(script, join(clone, "scripts", "ensure-dependencies.mjs"));
  writeFileSync(join(clone, "package-lock.json"), "{}");
  writeFileSync(join(clone, "package.json"), '{ "type": "module" }');
  writeFileSync(join(clone, "bin", "npm"), npm, { mode: 0o755 });
  return clone;
}

function ensure(clone: string, environment = {}): Promise<{ code: number; output: string }> {
  const PATH = [join(clone, "bin"), dirname(process.execPath)].join(delimiter);
  const own = join(clone, "scripts", "ensure-dependencies.mjs");
  return new Promise((resolve) => {
    execFile(process.execPath, [own], { env: { PATH, ...environment } }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, output: (stdout + stderr).trim() });
    });
  });
}

function installs(clone: string): number {
  const log = join(clone, "npm.log");
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0;
}
