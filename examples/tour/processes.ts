// Runs examples/approval-survives in a process of its own, so that the tour can kill it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createHoldfast, type Message } from "holdfast";
import { sqlite } from "holdfast/sqlite";

const program = fileURLToPath(new URL("../approval-survives/main.ts", import.meta.url));

export type Stage = {
  /** Starts the program and tells each line that it prints. With `killAfter`, it is killed after so many of them. */
  run(words: readonly string[], tell: (line: string) => void, killAfter?: number): Promise<void>;
  /** What is in the shop's books, without the keys. */
  refunds(): readonly string[];
  /** What is in the database. */
  stored(): Promise<{ messages: readonly Message[]; calls: readonly string[] }>;
  remove(): void;
};

/** A folder for the program to run in. */
export function createStage(): Stage {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-tour-"));
  // The tour needs no server, even where the machine has one.
  const { DATABASE_URL: _url, ...env } = process.env;
  return {
    async run(words, tell, killAfter) {
      const child = spawn(process.execPath, [program, ...words], {
        cwd: folder,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(child, "exit");
      let told = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        tell(line);
        if (++told === killAfter) child.kill("SIGKILL");
      }
      await ended;
    },
    refunds() {
      const lines = readFileSync(join(folder, "refunds.txt"), "utf8").trimEnd().split("\n");
      return lines.map((line) => line.replace(/ \S+$/, ""));
    },
    async stored() {
      const backend = sqlite(join(folder, "approval-survives.db"));
      const holdfast = await createHoldfast({ backend, agents: [], runs: false });
      const [found] = await holdfast.threads.list();
      if (!found) throw new Error("The thread is gone.");
      const thread = await holdfast.threads.get(found.id);
      const messages = (await thread.messages()).map(({ message }) => message);
      const calls = (await thread.calls()).map(({ tool_name, phase, outcome }) => `${tool_name} ${phase}: ${outcome}`);
      await holdfast.close();
      return { messages, calls };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
