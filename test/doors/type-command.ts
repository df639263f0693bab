// A command line typed at a running server, in this very process: what it prints, and what it ends with.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommandLine } from "../../src/cli/program.ts";
import { verbs } from "../../src/cli/verbs.ts";

export type Typed = { readonly code: number; readonly out: string; readonly err: string };

/** `input`: what is written into it, through a pipe. */
export async function typeLines(
  { url, token }: { readonly url: string; readonly token: string },
  words: readonly string[],
  input = "",
): Promise<Typed> {
  const cwd = mkdtempSync(join(tmpdir(), "holdfast-typed-"));
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  stdin.end(input);
  let code: number;
  try {
    code = await runCommandLine(words, verbs, {
      ...({ stdin, stdout, stderr } as unknown as Pick<NodeJS.Process, "stdin" | "stdout" | "stderr">),
      env: { HOLDFAST_URL: url, HOLDFAST_TOKEN: token },
      ...{ cwd, version: "0", signal: new AbortController().signal, interrupt: () => undefined },
    });
  } finally {
    stdout.end();
    stderr.end();
    rmSync(cwd, { recursive: true, force: true });
  }
  const [out, err] = await printed;
  return { code, out, err };
}

/** What it prints, on both streams. */
export async function typeCommand(url: string, token: string, ...words: readonly string[]): Promise<string> {
  const { out, err } = await typeLines({ url, token }, words);
  return `${out}\n${err}`;
}
