// A command line typed at a running server, in this very process: what it prints, and what it ends with.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommandLine } from "../../src/cli/program.ts";
import { verbs } from "../../src/cli/verbs.ts";
import type { Screen } from "../terminal-screen.ts";

export type Typed = { readonly code: number; readonly out: string; readonly err: string };

type Server = { readonly url: string; readonly token: string };

/** `input`: what is written into it, through a pipe. */
export async function typeLines(server: Server, words: readonly string[], input = ""): Promise<Typed> {
  const stdout = new PassThrough();
  const out = text(stdout);
  const { code, err } = await typeInto(stdout, server, words, input);
  stdout.end();
  return { code, err, out: await out };
}

/** The same in front of a terminal; what it prints stands on its screen. */
export async function typeInto(
  stdout: Screen | PassThrough,
  { url, token }: Server,
  words: readonly string[],
  input = "",
): Promise<Omit<Typed, "out">> {
  const cwd = mkdtempSync(join(tmpdir(), "holdfast-typed-"));
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  const printed = text(stderr);
  stdin.end(input);
  let code: number;
  try {
    code = await runCommandLine(words, verbs, {
      ...({ stdin, stdout, stderr } as unknown as Pick<NodeJS.Process, "stdin" | "stdout" | "stderr">),
      env: { HOLDFAST_URL: url, HOLDFAST_TOKEN: token },
      ...{ cwd, version: "0", signal: new AbortController().signal, interrupt: () => undefined },
    });
  } finally {
    stderr.end();
    rmSync(cwd, { recursive: true, force: true });
  }
  return { code, err: await printed };
}

/** What it prints, on both streams. */
export async function typeCommand(url: string, token: string, ...words: readonly string[]): Promise<string> {
  const { out, err } = await typeLines({ url, token }, words);
  return `${out}\n${err}`;
}
