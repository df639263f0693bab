import "node:child_process"; // these tests start processes
import { join } from "node:path";
import { expect, it } from "vitest";
import { pluginRoot, shell, writePlugin } from "../../../test/plugin-folders.ts";
import type { GatewayConfig, PluginSettings } from "../config/gateway-config.ts";
import { loadPlugins } from "./load-plugins.ts";

const alias = (name: string, uses: string) =>
  ({
    ...{ name, uses, enabled: true, agent: false, config: {}, parallelism: null, timeouts_ms: {}, schedules: [] },
    ...{ retry: { max_attempts: null, backoff_base_ms: null }, place: { file: "gateway.yaml", line: 7, column: 3 } },
  }) as unknown as PluginSettings;

it("a configuration's plugins are discovered, checked, named, and run with the environment it allows", async () => {
  const root = pluginRoot();
  writePlugin(root, "echo", {
    script: shell('echo "{\\"status\\":\\"ok\\",\\"result\\":\\"$GREETING $HOLDFAST_TOKEN\\"}"'),
  });
  writePlugin(root, "broken", { manifest: { protocol: "7" } });
  const config = {
    service: {
      ...{ strict_protocol: false, exit_code_policy: "strict", allow_symlinks: false, max_workers: 1 },
      plugin_env_passthrough: ["GREETING", "HOLDFAST_TOKEN"],
    },
    ...{ plugin_roots: [root], folder: "/etc/gateway" },
    plugins: new Map([
      ["twin", alias("twin", "echo")],
      ["lost", alias("lost", "broken")],
    ]),
  } as unknown as GatewayConfig;
  const environment = { PATH: process.env.PATH, GREETING: "hello", HOLDFAST_TOKEN: "secret" };
  const { plugins, problems, warnings } = loadPlugins(config, { environment, own: [], builtIns: new Map() });

  expect([...plugins.keys()]).toEqual(["twin", "echo"]);
  expect(problems).toMatchObject([{ file: "gateway.yaml", line: 7, message: expect.stringContaining("broken") }]);
  expect(warnings).toMatchObject([
    { file: join(root, "broken/manifest.yaml"), line: 5, message: "protocol must be 2." },
    { message: "service.plugin_env_passthrough: HOLDFAST_TOKEN never reaches a plugin." },
  ]);
  const request = { protocol: 2, job_id: "j", command: "handle", config: {}, state: {}, deadline_at: "" } as const;
  const execution = await plugins
    .get("twin")
    ?.run(request, { timeoutMs: 120_000, signal: new AbortController().signal });
  expect(execution).toMatchObject({ outcome: "succeeded", response: { result: "hello " } });
});
