import { type SpawnOptions, spawn } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { openNamedStreams } from "./named-streams.ts";
import type { Spawn } from "./start-process.ts";

/** Streams until the end of the test. */
async function open(start?: Spawn) {
  const named = await openNamedStreams(start);
  onTestFinished(() => named?.release());
  return named;
}

/** Those that earlier plugins have left come before new ones. */
async function openUntilFailed(start: Spawn) {
  while (await open(start));
}

const starting = (program: string) =>
  ((_file: string, _args: string[], options: SpawnOptions) => spawn(program, [], options)) as Spawn;

describe.runIf(process.platform === "linux")("named streams, once they cannot be made", () => {
  it.each([
    ["fails", starting("false")],
    ["is missing", starting("/nonexistent/sh")],
    ["prints something else", starting("uname")],
    [
      "cannot be started",
      () => {
        throw new Error("spawn EAGAIN");
      },
    ],
  ])("because the shell %s, are there for the next plugin", async (_how, start) => {
    await openUntilFailed(start);
    expect(await open()).toBeDefined();
  });
});
