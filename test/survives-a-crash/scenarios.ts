// The scenarios of the matrix.
import type { Scenario } from "./scenario.ts";
import { approval } from "./scenarios/approval.ts";
import { clientTool } from "./scenarios/client-tool.ts";
import { compaction } from "./scenarios/compaction.ts";
import { edits } from "./scenarios/edits.ts";
import { fork } from "./scenarios/fork.ts";
import { manyThreads } from "./scenarios/many-threads.ts";
import { modelRetry } from "./scenarios/model-retry.ts";
import { parallelSends } from "./scenarios/parallel-sends.ts";
import { plainAnswer } from "./scenarios/plain-answer.ts";
import { queuesFromTool } from "./scenarios/queue.ts";
import { sleeperAnswer } from "./scenarios/sleeper.ts";
import { stopsAnswer, stopsTool, terminates } from "./scenarios/stops.ts";
import { threeTools } from "./scenarios/three-tools.ts";
import { timeout } from "./scenarios/timeout.ts";

export const scenarios: readonly Scenario[] = [
  plainAnswer,
  threeTools,
  parallelSends,
  clientTool,
  approval,
  timeout,
  compaction,
  stopsAnswer,
  stopsTool,
  terminates,
  fork,
  queuesFromTool,
  edits,
  modelRetry,
];

/** The agents of those that are played in a way of their own, which every worker knows too. */
export const special: readonly Scenario[] = [sleeperAnswer, manyThreads];

export function scenarioNamed(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (!found)
    throw new Error(`There is no scenario "${name}"; there is ${scenarios.map((one) => one.name).join(", ")}.`);
  return found;
}
