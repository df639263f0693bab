// Agents that work together are killed in the middle of it, and go on as if nothing had happened: an editor, three pairs
// of reviewers, and a poem that goes from one to the next. Once undisturbed, once with a kill -9 and a restart.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("process.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "holdfast-reviewers-"));

/** Tells what it writes, and returns the transcripts that it prints. With `killAt`, it is killed when it tells that line. */
async function run(database: string, killAt?: string): Promise<string> {
  const pauseMs = killAt === undefined ? "0" : "60000";
  const words = [program, join(folder, database), pauseMs];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const printed: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    printed.push(line);
    if (line.startsWith("writing")) console.log(`  ${line}`);
    if (line === killAt) child.kill("SIGKILL");
  }
  const [code, signal] = await ended;
  console.log(signal ? `  killed by ${signal}` : `  ended with ${code}`);
  return printed.slice(printed.indexOf("---") + 1).join("\n");
}

try {
  console.log("Undisturbed");
  const undisturbed = await run("undisturbed.db");
  console.log("Killed while Ben's pair is writing");
  await run("killed.db", "writing (Ben begins)");
  console.log("Started again");
  const recovered = await run("killed.db");
  console.log(`---\n${recovered}\n---`);
  const isSame = recovered === undisturbed;
  console.log(isSame ? "The undisturbed run came to the same, word for word." : `Undisturbed it was:\n${undisturbed}`);
  process.exitCode = isSame ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
