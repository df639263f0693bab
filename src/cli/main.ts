#!/usr/bin/env node
// holdfast: the command line.
import { readFileSync } from "node:fs";
import { runCommandLine } from "./program.ts";
import { exitCodes } from "./refusal.ts";
import { verbs } from "./verbs.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const interrupt = new AbortController();
process.on("SIGINT", () => {
  // Once asks for an end in good order; whoever cannot wait for it asks twice.
  if (interrupt.signal.aborted) process.exit(exitCodes.interrupted);
  interrupt.abort();
});
process.once("SIGTERM", () => interrupt.abort());
// Whoever reads has seen enough, such as head.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  throw error;
});

const { stdin, stdout, stderr, env } = process;
process.exitCode = await runCommandLine(process.argv.slice(2), verbs, {
  ...{ stdin, stdout, stderr, env, version, cwd: process.cwd() },
  signal: interrupt.signal,
});
