// A command line typed at a running server, in this very process: what it prints, on both streams.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommandLine } from "../../src/cli/program.ts";
import { verbs } from "../../src/cli/verbs.ts";

export async function typeCommand(url: string, token: string, ...words: readonly string[]): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), "holdfast-typed-"));
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  stdin.end();
  try {
    await runCommandLine(words, verbs, {
      ...({ stdin, stdout, stderr } as unknown as Pick<NodeJS.Process, "stdin" | "stdout" | "stderr">),
      env: { HOLDFAST_URL: url, HOLDFAST_TOKEN: token },
      ...{ cwd, version: "0", signal: new AbortController().signal, interrupt: () => undefined },
    });
  } finally {
    stdout.end();
    stderr.end();
    rmSync(cwd, { recursive: true, force: true });
  }
  return (await printed).join("\n");
}
