// A tool whose process is killed until its job has no attempts left: the job ends dead when the next process finds it, its
// agent hears of that and requests the tool again.
import { scriptedPlanner } from "../../../src/gateway/agent/planner/scripted-planner.ts";
import { gatewayPlugin } from "../../../src/gateway/plugins/in-process-plugin.ts";
import { checkRun, checkRunsAlways, different } from "../check-run.ts";
import type { GatewayScenario } from "../scenario.ts";
import { toolPipeline } from "./failing-tool.ts";

const agent = "agentic-loop";

export const exhaustedAttempts: GatewayScenario = {
  name: "exhausted attempts",
  config: () => ({
    plugins: {
      [agent]: { retry: { backoff_base: "1ms" }, config: { allowed_plugins: ["brittle"] } },
      brittle: { retry: { backoff_base: "1ms", max_attempts: 2 } },
    },
    pipelines: [toolPipeline("brittle")],
  }),
  plugins: (world) => [
    gatewayPlugin({
      name: "brittle",
      commands: {
        handle: {
          async run(request) {
            await world.executed("brittle", request);
            return "It worked.";
          },
        },
      },
    }),
  ],
  planner: () => scriptedPlanner([{ tool: "brittle" }, { decision: "done", outcome: "It worked in the end." }]),
  async play(gateway) {
    await gateway.runs.start({ goal: "Use the tool.", dedupe_key: "start" }, { via: "api" });
  },
  first: ["inside plugin brittle #1", "inside plugin brittle #1"],
  always: checkRunsAlways,
  async check({ reading, workspaces }) {
    const [dead] = await reading.rows("select id, reason from gateway_jobs where status = 'dead'");
    if (!dead) return ["no job is dead"];
    const attempts = await reading.stores.jobs.attempts(String(dead.id));
    const outcomes = attempts.map(({ outcome, reason }) => `${outcome} (${reason})`);
    const ends = (await reading.stream()).filter(
      ({ type, data }) => type === "job.failed" && data.job_id === dead.id && data.recovery === true,
    );
    return [
      ...different("the reason of the dead job", [String(dead.reason)], ["attempts_exhausted"]),
      ...different(
        "the log of the dead job",
        [...new Set(outcomes)],
        [...["orphaned (orphaned)", "dead (attempts_exhausted)"]],
      ),
      ...(ends.length === 1 ? [] : [`the stream tells ${ends.length} times that a job died in a crash`]),
      ...(await checkRun(reading, workspaces, {
        status: "done",
        tree: [
          ...[`${agent} succeeded`, "brittle dead", `${agent} succeeded`],
          ...["brittle succeeded", `${agent} succeeded`],
        ],
        trace: ["frame framed", "plan action", "act request", "act retry", "reflect done"],
        end: "agent.completed",
      })),
    ];
  },
};
