import { expect, it } from "vitest";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import { gatewayPlugin } from "./in-process-plugin.ts";

const AN_HOUR_MS = 3_600_000;

/** Runs a command of a plugin, and tells what became of it and of the signal that it was given. */
async function runCommand(command: (signal: AbortSignal) => string | Promise<string>, signal: AbortSignal) {
  let given: AbortSignal | undefined;
  const { run } = gatewayPlugin({
    name: "tool",
    commands: {
      handle: {
        run(_request, options) {
          given = options.signal;
          return command(options.signal);
        },
      },
    },
  });
  const request = { command: "handle" } as PluginRequest;
  const execution = await run(request, { timeoutMs: AN_HOUR_MS, signal } as Parameters<typeof run>[1]);
  return { outcome: execution.outcome, signal: given };
}

it("aborts the signal of a command that is cut off while it runs", async () => {
  const job = new AbortController();
  const cut = runCommand((signal) => {
    job.abort();
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, job.signal);
  expect(await cut).toMatchObject({ outcome: "aborted", signal: { aborted: true } });
});

it("leaves the signal of a command alone that has ended, whatever becomes of its job", async () => {
  const job = new AbortController();
  const { outcome, signal } = await runCommand(() => "done", job.signal);
  job.abort();
  expect(outcome).toBe("succeeded");
  expect(signal?.aborted).toBe(false);
});
