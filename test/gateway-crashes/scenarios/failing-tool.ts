// Tools that fail: the first until it is requested again, the second for good. The agent hears of each failed job through one
// bridge event, and a pipeline for dead letters through one of its own.
import { scriptedPlanner } from "../../../src/gateway/agent/planner/scripted-planner.ts";
import { gatewayPlugin } from "../../../src/gateway/plugins/in-process-plugin.ts";
import { checkRun, checkRunsAlways, different } from "../check-run.ts";
import type { GatewayScenario, World } from "../scenario.ts";
import { counting, quickRetries } from "./order-pipeline.ts";

const agent = "agentic-loop";

export const failingTool: GatewayScenario = {
  name: "failing tool",
  config: () => ({
    plugins: {
      ...quickRetries("morgue"),
      [agent]: { retry: { backoff_base: "1ms" }, config: { allowed_plugins: ["flaky", "broken"] } },
      flaky: { retry: { backoff_base: "1ms", max_attempts: 3 } },
      broken: { retry: { backoff_base: "1ms" } },
    },
    pipelines: [
      ...["flaky", "broken"].map((tool) => toolPipeline(tool)),
      { name: "failures", on: "dead_letter", steps: [{ id: "keep", uses: "morgue" }] },
    ],
  }),
  plugins: (world) => [
    failing(world, "flaky", (attempt) => (attempt > 1 ? undefined : new Error("The service is away."))),
    failing(world, "broken", () => Object.assign(new Error("There is no such order."), { retry: false })),
    counting(world, "morgue", () => ({})),
  ],
  planner: () => scriptedPlanner([{ tool: "flaky" }, { tool: "broken" }]),
  async play(gateway) {
    await gateway.runs.start({ goal: "Use both tools.", dedupe_key: "start" }, { via: "api" });
  },
  always: checkRunsAlways,
  async check({ reading, workspaces }) {
    const bridges = await reading.rows("select parent_job_id from gateway_jobs where submitted_by = 'bridge'");
    const letters = await reading.rows("select parent_job_id from gateway_jobs where submitted_by = 'dead_letter'");
    const failed = await reading.rows(
      `select id, plugin from gateway_jobs where status in ('failed', 'dead') order by seq`,
    );
    const ids = failed.map(({ id }) => String(id)).sort();
    return [
      ...different(
        "the list of failed jobs",
        failed.map(({ plugin }) => String(plugin)),
        ["flaky", "broken"],
      ),
      ...different("the list of bridged jobs", bridges.map(({ parent_job_id }) => String(parent_job_id)).sort(), ids),
      ...different("the list of dead letters", letters.map(({ parent_job_id }) => String(parent_job_id)).sort(), ids),
      ...(await checkRun(reading, workspaces, {
        status: "escalated",
        tree: await treeWith(reading),
        trace: [
          ...["frame framed", "plan action", "act request", "act retry"],
          ...["reflect continue", "plan action", "act request", "reflect escalated"],
        ],
        end: "agent.escalated",
      })),
    ];
  },
};

export function toolPipeline(tool: string): object {
  return {
    name: `agentic-tool-${tool}`,
    on: `agentic.tool_request.${tool}`,
    steps: [
      { id: "tool", uses: tool },
      { id: "resume", uses: agent },
    ],
  };
}

/** A tool that decides by the attempt of the request whether it fails. */
function failing(world: World, name: string, problem: (attempt: number) => Error | undefined) {
  return gatewayPlugin({
    name,
    commands: {
      handle: {
        async run(request) {
          await world.executed(name, request);
          const thrown = problem(Number(request.event?.payload.attempt ?? 1));
          if (thrown) throw thrown;
          return "It worked.";
        },
      },
    },
  });
}

/** A job of a tool ends dead, not failed, where its last attempt was the one that was killed. */
async function treeWith({ rows }: Parameters<NonNullable<GatewayScenario["always"]>>[0]): Promise<readonly string[]> {
  const [flaky] = await rows("select status from gateway_jobs where plugin = 'flaky' order by seq");
  const status = flaky?.status === "dead" ? "dead" : "failed";
  return [
    ...[`${agent} succeeded`, `flaky ${status}`, `${agent} succeeded`, "morgue succeeded"],
    ...["flaky succeeded", `${agent} succeeded`, "broken failed", `${agent} succeeded`, "morgue succeeded"],
  ];
}
