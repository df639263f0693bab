import { expect, it } from "vitest";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import { runHealth, runInit } from "./diagnose.ts";
import type { Execution, Plugin, RunOptions } from "./plugin.ts";

const now = new Date("2026-01-01T00:00:00.000Z");

/** A plugin with a `health` command only, and the requests that it gets. */
function plugin(execution: Partial<Execution> = {}) {
  const requests: [PluginRequest, RunOptions][] = [];
  const answer = {
    ...{ outcome: "succeeded", warnings: [], stdout: "", stderr: "", exit_code: 0 },
    response: {
      ...{ status: "ok", result: "healthy", logs: [{ level: "info", message: "hello" }] },
      ...{ state_updates: { checked: true }, events: [{ type: "health.checked", payload: {} }] },
    },
    ...execution,
  } as Execution;
  const diagnosed: Plugin = {
    ...{ name: "mail", base: "mail", config: { host: "h" }, isAgent: false, parallelism: 1, maxAttempts: 4 },
    ...{ backoffBaseMs: 1, notifyOnComplete: false, timeoutsMs: { health: 10_000 } },
    manifest: {
      ...{ name: "mail", version: "1", description: "", entrypoint: "run", concurrency_safe: true },
      commands: [{ name: "health", type: "read", description: "" }],
      ...{ fact_outputs: [], required_config: [] },
    },
    run: async (...args) => {
      requests.push(args);
      return answer;
    },
  };
  return { diagnosed, requests };
}

const options = { jobId: "job-1", state: { seen: 1 }, now, signal: new AbortController().signal };

it("health is asked with the plugin's configuration and state, and changes nothing", async () => {
  const { diagnosed, requests } = plugin();
  expect(await runHealth(diagnosed, options)).toMatchObject({
    response: { status: "ok", result: "healthy", events: [], logs: [{ level: "info", message: "hello" }] },
  });
  expect(await runHealth(diagnosed, options)).not.toHaveProperty("response.state_updates");
  expect(requests[0]).toEqual([
    {
      ...{ protocol: 2, job_id: "job-1", command: "health", config: { host: "h" }, state: { seen: 1 } },
      deadline_at: "2026-01-01T00:00:10.000Z",
    },
    { timeoutMs: 10_000, signal: options.signal },
  ]);
});

it("a failed diagnosis is passed on as it is", async () => {
  const { diagnosed } = plugin({ outcome: "timed_out", reason: "timeout", retryable: true, error: "late", logs: [] });
  expect(await runHealth(diagnosed, options)).toMatchObject({ outcome: "timed_out", error: "late" });
});

it("a plugin without the command is not asked", () => {
  const { diagnosed, requests } = plugin();
  expect(runInit(diagnosed, options)).toBeUndefined();
  expect(requests).toEqual([]);
});
