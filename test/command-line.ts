// The command line as its users have it: real processes in a folder of their own.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { eventually } from "./eventually.ts";

const program = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

export type Printed = { readonly code: number; readonly out: string; readonly err: string };

export type Shell = {
  readonly folder: string;
  /** Runs `holdfast …` to its end; `input` is what is typed, through a pipe. */
  run(words: readonly string[], input?: string): Promise<Printed>;
  /** The answer of a verb with `--json`; throws what it printed when it failed. */
  json(...words: string[]): Promise<Record<string, unknown>>;
  /** Starts `holdfast serve` and returns once it answers. */
  serve(...words: string[]): Promise<Server>;
};

export type Server = {
  readonly url: string;
  readonly token: string;
  /** Without warning, as a power cut would. */
  kill(): Promise<void>;
  /** As somebody would who wants it to end; answers with its exit code. */
  end(): Promise<number | null>;
};

export function newShell(env: Readonly<Record<string, string>> = {}): Shell {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { FORCE_COLOR: _, ...inherited } = process.env;
  const environment = { ...inherited, HOLDFAST_MODEL: "demo", ...env };

  const run: Shell["run"] = (words, input = "") =>
    new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [program, ...words],
        { cwd: folder, env: environment, encoding: "utf8" },
        (error, out, err) => resolve({ code: error ? Number(error.code ?? 1) : 0, out, err }),
      );
      child.stdin?.end(input);
    });

  return {
    folder,
    run,
    async json(...words) {
      const { code, out, err } = await run([...words, "--json"]);
      if (code !== 0) throw new Error(`holdfast ${words.join(" ")} exited with ${code}: ${err}`);
      return JSON.parse(out) as Record<string, unknown>;
    },
    async serve(...words) {
      const child = spawn(process.execPath, [program, "serve", "--port", "0", ...words], {
        cwd: folder,
        env: environment,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let complaints = "";
      child.stderr?.on("data", (chunk) => {
        complaints += String(chunk);
      });
      onTestFinished(async () => {
        await ended(child, "SIGKILL");
      });
      const file = join(folder, ".holdfast", "server.json");
      const url = await eventually(() => {
        if (child.exitCode !== null) throw new Error(complaints);
        const told = JSON.parse(existsSync(file) ? readFileSync(file, "utf8") : "{}") as { url: string; pid: number };
        if (told.pid !== child.pid) throw new Error(`It does not serve yet. ${complaints}`);
        return told.url;
      });
      const token = readFileSync(join(folder, ".holdfast", "owner-token"), "utf8").trim();
      return {
        url,
        token,
        async kill() {
          await ended(child, "SIGKILL");
        },
        end: () => ended(child, "SIGTERM"),
      };
    },
  };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  return await new Promise((resolve) => {
    child.once("exit", (code) => resolve(code));
    child.kill(signal);
  });
}
