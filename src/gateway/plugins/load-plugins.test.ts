import "node:child_process"; // these tests start processes
import { join } from "node:path";
import { expect, it } from "vitest";
import { node, pluginRoot, shell, writePlugin, writeScript } from "../../../test/plugin-folders.ts";
import type { GatewayConfig, PluginSettings } from "../config/gateway-config.ts";
import { loadPlugins } from "./load-plugins.ts";

const request = { protocol: 2, job_id: "j", command: "handle", config: {}, state: {}, deadline_at: "" } as const;
const patient = () => ({ timeoutMs: 120_000, signal: new AbortController().signal });

const alias = (name: string, uses: string) =>
  ({
    ...{ name, uses, enabled: true, agent: false, config: {}, parallelism: null, timeouts_ms: {}, schedules: [] },
    ...{ retry: { max_attempts: null, backoff_base_ms: null }, place: { file: "gateway.yaml", line: 7, column: 3 } },
  }) as unknown as PluginSettings;

it("a plugin that is a Node script runs on the gateway's own Node, whichever comes first in the PATH", async () => {
  const root = pluginRoot();
  const other = join(root, "other");
  writeScript(join(other, "node"), shell("echo 'another Node' >&2; exit 1"));
  writePlugin(join(root, "plugins"), "told", {
    script: node("console.log(JSON.stringify({ status: 'ok', result: process.execPath }));"),
  });
  const config = {
    service: {
      ...{ strict_protocol: false, exit_code_policy: "strict", allow_symlinks: false, max_workers: 1 },
      plugin_env_passthrough: [],
    },
    ...{ plugin_roots: [join(root, "plugins")], folder: root, plugins: new Map() },
  } as unknown as GatewayConfig;
  const environment = { PATH: `${other}:${process.env.PATH}` };
  const { plugins } = loadPlugins(config, { environment, own: [], builtIns: new Map() });
  const execution = await plugins.get("told")?.run(request, patient());
  expect(execution).toMatchObject({ outcome: "succeeded", response: { result: process.execPath } });
});

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
  const execution = await plugins.get("twin")?.run(request, patient());
  expect(execution).toMatchObject({ outcome: "succeeded", response: { result: "hello " } });
});
