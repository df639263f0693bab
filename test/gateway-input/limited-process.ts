// A gateway in a process of its own, and what the system lets it have: files of some size, so many descriptors.
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";

/** What the process is started with. */
export type Limited = {
  /** The path of its database. */
  readonly database: string;
  readonly workspaces: string;
  /** A folder with the plugin `program`. */
  readonly root?: string;
};

export type LimitedProcess = {
  /** Does what one line says, and resolves with the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  ask(command: string, input?: JsonMap): Promise<any>;
  /** Sets a limit of the running process; null lifts it. `FSIZE`: bytes of a file; `NOFILE`: descriptors. */
  limit(name: "FSIZE" | "NOFILE", value: number | null): void;
  kill(): Promise<void>;
};

/** Limits of another process can be set on Linux alone. */
export const canLimit =
  process.platform === "linux" && spawnSync("python3", ["-c", "import resource; resource.prlimit"]).status === 0;

const program = fileURLToPath(new URL("./limited-gateway.ts", import.meta.url));

export async function startLimited(given: Limited): Promise<LimitedProcess> {
  // Nothing of a cache is written while files may not grow.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const child = spawn(process.execPath, [program, JSON.stringify(given)], { stdio: ["pipe", "pipe", "inherit"], env });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error("The process has ended.");
    return JSON.parse(value);
  };
  const { pid } = await next();
  return {
    async ask(command, input = {}) {
      child.stdin.write(`${JSON.stringify({ command, ...input })}\n`);
      return await next();
    },
    limit(name, value) {
      const soft = value === null ? "hard" : String(value);
      const script = `import resource as r; l = r.RLIMIT_${name}; hard = r.prlimit(${pid}, l)[1]; r.prlimit(${pid}, l, (${soft}, hard))`;
      const { status, stderr } = spawnSync("python3", ["-c", script], { encoding: "utf8" });
      if (status !== 0) throw new Error(stderr);
    },
    kill,
  };
}
