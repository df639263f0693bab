// The scenarios of the gateway's matrix.
import type { GatewayScenario } from "./scenario.ts";
import { exhaustedAttempts } from "./scenarios/exhausted-attempts.ts";
import { failingTool } from "./scenarios/failing-tool.ts";
import { heldPlugin } from "./scenarios/held-plugin.ts";
import { orderPipeline } from "./scenarios/order-pipeline.ts";
import { parallelJobs } from "./scenarios/parallel-jobs.ts";
import { scheduledPoll } from "./scenarios/scheduled-poll.ts";
import { workedExample } from "./scenarios/worked-example.ts";

export const scenarios: readonly GatewayScenario[] = [
  workedExample,
  orderPipeline,
  parallelJobs,
  failingTool,
  exhaustedAttempts,
  scheduledPoll,
];

/** Those that are played in a way of their own. */
const special: readonly GatewayScenario[] = [heldPlugin];

export function scenarioNamed(name: string): GatewayScenario {
  const found = [...scenarios, ...special].find((scenario) => scenario.name === name);
  if (found) return found;
  throw new Error(`There is no scenario "${name}"; there is ${scenarios.map((one) => one.name).join(", ")}.`);
}
