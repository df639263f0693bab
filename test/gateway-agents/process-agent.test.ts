// The shipped agent as a process of its own under this gateway: it ends runs as the one inside the gateway does.
import "node:child_process"; // these tests start processes
import { readdirSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { SHIPPED_PLUGINS } from "../../src/gateway/dispatch/built-in-plugins.ts";
import type { RecordingPlugin } from "../gateway/gateway-world.ts";
import { api, heldPlugin, inShort, openGateway, plugin } from "../gateway/gateway-world.ts";
import { node, pluginRoot, writePlugin } from "../plugin-folders.ts";
import { startProviderServer } from "../provider-server.ts";
import type { Reply } from "../provider-server-reply.ts";

const said = (answer: object): Reply => ({ text: JSON.stringify(answer) });
const act = (tool: string) => said({ decision: "act", tool, tool_payload: "{}" });
const goesOn = said({ decision: "continue", summary: "Fine." });

/** Under another name than the built-in agent, which is not started as a process. */
async function openWithProcess(
  plugins: readonly Pick<RecordingPlugin, "manifest" | "run">[],
  script: readonly Reply[],
  more: object = {},
) {
  const provider = await startProviderServer({ script });
  onTestFinished(() => provider.close());
  const root = pluginRoot();
  const commands = ["handle", "poll", "health", "cancel"].map((name) => `{ name: ${name}, type: write }`);
  writePlugin(root, "loop", {
    script: node(`await import("${SHIPPED_PLUGINS}/agentic-loop/run.mjs");`),
    manifest: { commands: `[${commands}]` },
  });
  const config = { allowed_plugins: ["tool", "other"], model: "ollama/small", base_url: provider.url };
  return await openGateway({
    plugins,
    config: {
      plugin_roots: [root],
      plugins: { loop: { agent: true, config } },
      pipelines: [{ name: "tool", on: "agentic.tool_request.tool", steps: [{ uses: "tool" }, { uses: "loop" }] }],
      ...more,
    },
  });
}

const start = { goal: "Go.", run_id: "R1", agent: "loop" };

describe("the agent as a process under this gateway", () => {
  it("ends a run as cancelled without a workspace_root of its own, and traces it", async () => {
    const tool = heldPlugin("tool");
    const { gateway, untilIdle, workspaceRoot } = await openWithProcess([tool], [said({ todo: [] }), act("tool")]);
    const { job_ids } = await gateway.runs.start(start, api);
    await tool.next();
    await gateway.runs.cancel("R1", "user:1");
    await untilIdle();
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "cancelled" });
    expect((await gateway.runs.trace("R1")).at(-1)).toMatchObject({ summary: "cancelled" });
    expect(readdirSync(workspaceRoot)).toEqual(job_ids);
  });

  it("ends a run that comes to a tool which no pipeline takes, and one whose tree is full", async () => {
    const unroutable = await openWithProcess(
      [plugin("tool"), plugin("other")],
      [said({ todo: [] }), act("tool"), goesOn, act("other")],
    );
    const first = await unroutable.gateway.runs.start(start, api);
    expect(inShort(await unroutable.endedTree(first.job_ids[0]))).toEqual([
      ...["loop succeeded", "tool succeeded", "loop succeeded", "loop succeeded"],
    ]);
    expect(await unroutable.gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "tool_unroutable" });
    const tool = plugin("tool");
    const full = await openWithProcess([tool], [said({ todo: [] }), act("tool"), goesOn, act("tool")], {
      service: { max_tree_jobs: 4 },
    });
    const second = await full.gateway.runs.start(start, api);
    await full.endedTree(second.job_ids[0]);
    expect(await full.gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "max_tree_jobs_exceeded" });
    expect(tool.requests).toHaveLength(1);
  });
});
