// What the agent says of itself; plugins/agentic-loop/manifest.yaml says the same.
import { AGENT_PLUGIN } from "../../contracts/gateway/agent/agentic-event.ts";
import type { Manifest } from "../../contracts/gateway/protocol/manifest.ts";

export const agentManifest: Manifest = {
  name: AGENT_PLUGIN,
  version: "0.1.0",
  description: "Pursues a goal step by step: one turn per job, one tool per step.",
  entrypoint: "run.mjs",
  concurrency_safe: false,
  commands: [
    {
      name: "handle",
      type: "write",
      description: "Takes one turn: starts a run, or goes on with one whose tool has answered.",
      input_schema: {
        type: "object",
        properties: {
          goal: { type: "string", description: "What is to be achieved." },
          context: { type: "object", description: "What the planner should know; max_steps lowers the step budget." },
          run_id: { type: "string", description: "Made from the job's id unless given." },
        },
        required: ["goal"],
      },
    },
    {
      name: "poll",
      type: "write",
      description: "Escalates runs whose tool has not answered in time, and removes runs that are no longer kept.",
    },
    { name: "health", type: "read", description: "Reports the configured budget and how many runs there are." },
    {
      name: "cancel",
      type: "write",
      description: "Escalates a run as cancelled.",
      input_schema: {
        type: "object",
        properties: {
          run_id: { type: "string", description: "The run to cancel." },
          by: { type: "string", description: "Who cancels it." },
        },
        required: ["run_id"],
      },
    },
  ],
  fact_outputs: [],
  required_config: [],
};
