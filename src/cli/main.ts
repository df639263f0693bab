#!/usr/bin/env node
// holdfast: the command line.
import { readFileSync } from "node:fs";
import { runCommandLine } from "./program.ts";
import { exitCodes } from "./refusal.ts";
import { verbs } from "./verbs.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const ending = new AbortController();
function interrupt(): void {
  // Once asks for an end in good order; whoever cannot wait for it asks twice.
  if (ending.signal.aborted) process.exit(exitCodes.interrupted);
  ending.abort();
}
process.on("SIGINT", interrupt);
process.once("SIGTERM", () => ending.abort());
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader closed its end early, as head does.
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  whereItsTerminalWasClosed(error);
});
process.stderr.on("error", whereItsTerminalWasClosed);
/** Then nothing can be printed, and what is to end in good order still does. */
function whereItsTerminalWasClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== "EIO") throw error;
}

const { stdin, stdout, stderr, env } = process;
const exitCode = await runCommandLine(process.argv.slice(2), verbs, {
  ...{ stdin, stdout, stderr, env, version, cwd: process.cwd() },
  ...{ interrupt, signal: ending.signal },
});
await Promise.all([stdout, stderr].map(written));
// Everything of ours is closed. Whatever the project has left running, such as a timer, would keep the process for ever.
process.exit(exitCode);

/** Once all that was printed is on its way: a pipe takes it as fast as it is read. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}
