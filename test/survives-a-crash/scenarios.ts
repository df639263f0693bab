// The scenarios of the matrix.
import type { World } from "../../src/testing/scenario.ts";
import type { Scenario } from "./scenario.ts";
import { approval } from "./scenarios/approval.ts";
import { attachments } from "./scenarios/attachments.ts";
import { blockingChild } from "./scenarios/blocking-child.ts";
import { checkpoints } from "./scenarios/checkpoints.ts";
import { clientTool } from "./scenarios/client-tool.ts";
import { compaction } from "./scenarios/compaction.ts";
import { editedApproval } from "./scenarios/edited-approval.ts";
import { edits } from "./scenarios/edits.ts";
import { scheduledEffect } from "./scenarios/effect.ts";
import { erasure } from "./scenarios/erasure.ts";
import { escalated } from "./scenarios/escalated.ts";
import { fork } from "./scenarios/fork.ts";
import { handoff } from "./scenarios/handoff.ts";
import { keptTranscript } from "./scenarios/kept-transcript.ts";
import { manyThreads } from "./scenarios/many-threads.ts";
import { remembering } from "./scenarios/memory-tools.ts";
import { modelRetry } from "./scenarios/model-retry.ts";
import { parallelSends } from "./scenarios/parallel-sends.ts";
import { plainAnswer } from "./scenarios/plain-answer.ts";
import { promptTool } from "./scenarios/prompt-tool.ts";
import { queuesFromTool } from "./scenarios/queue.ts";
import { queuedChild } from "./scenarios/queued-child.ts";
import { racingChildren } from "./scenarios/racing-children.ts";
import { rememberedApproval } from "./scenarios/remembered-approval.ts";
import { resumedChild } from "./scenarios/resumed-child.ts";
import { sleeperAnswer } from "./scenarios/sleeper.ts";
import { stopsAnswer, stopsTool, terminates } from "./scenarios/stops.ts";
import { threeTools } from "./scenarios/three-tools.ts";
import { timeout } from "./scenarios/timeout.ts";
import { twoSides } from "./scenarios/two-sides.ts";
import { variables } from "./scenarios/variables.ts";

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
  blockingChild,
  queuedChild,
  racingChildren,
  resumedChild,
  variables,
  attachments,
  promptTool,
  twoSides,
  scheduledEffect,
  handoff,
  editedApproval,
  rememberedApproval,
  remembering,
  keptTranscript,
  erasure,
  escalated,
  checkpoints,
];

/** The agents of those that are played in a way of their own, which every worker knows too. */
export const special: readonly Scenario[] = [sleeperAnswer, manyThreads];

/** What a runtime has to know to take part in them. */
export function definitionsOf(played: readonly Scenario[], world: World) {
  return {
    agents: played.flatMap(({ agents }) => agents(world)),
    effects: played.flatMap(({ effects }) => effects?.(world) ?? []),
  };
}

export function scenarioNamed(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (!found)
    throw new Error(`There is no scenario "${name}"; there is ${scenarios.map((one) => one.name).join(", ")}.`);
  return found;
}
