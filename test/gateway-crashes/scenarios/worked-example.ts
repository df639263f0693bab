// The worked example of RFC-103: an agent fetches a page, has a critique of it written and completes.
import { fileURLToPath } from "node:url";
import { scriptedPlanner } from "../../../src/gateway/agent/planner/scripted-planner.ts";
import { checkRun, checkRunsAlways } from "../check-run.ts";
import type { GatewayScenario } from "../scenario.ts";

const critique = "The page says where tea is poured.\n\nIt does not say when.\n";
const critiquePath = "artifacts/critique.md";

export const workedExample: GatewayScenario = {
  name: "worked example",
  config: () => fileURLToPath(new URL("worked-example.yaml", import.meta.url)),
  planner: ({ page }) =>
    scriptedPlanner([
      { tool: "jina-reader", tool_payload: { url: page } },
      { tool: "fabric", tool_payload: { output_path: critiquePath, text: critique } },
      { decision: "done", outcome: "The critique is written.", artifacts: [critiquePath] },
    ]),
  async play(gateway) {
    const goal = "fetch a web page and produce a 2 para critique";
    await gateway.runs.start({ goal, dedupe_key: "agentic:start:request-17" }, { via: "api" });
  },
  isInOrder: true,
  always: checkRunsAlways,
  async check({ reading, workspaces, pageRequests, crashes }) {
    return [
      ...(await checkRun(reading, workspaces, {
        status: "done",
        // One job for each request, and one turn for each answer.
        tree: [
          ...["agentic-loop succeeded", "jina-reader succeeded", "agentic-loop succeeded"],
          ...["fabric succeeded", "agentic-loop succeeded"],
        ],
        trace: [
          ...["frame framed", "plan action", "act request"],
          ...["reflect continue", "plan action", "act request"],
          "reflect done",
        ],
        artifacts: { [critiquePath]: critique },
        end: "agent.completed",
      })),
      ...(pageRequests >= 1 && pageRequests <= 1 + crashes ? [] : [`the page was fetched ${pageRequests} times`]),
    ];
  },
};
