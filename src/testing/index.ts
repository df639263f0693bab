// What `holdfast/testing` exports, name by name.
export {
  type ScriptedDecision,
  type ScriptedPlannerStep,
  scriptedPlanner,
} from "../gateway/agent/planner/scripted-planner.ts";
export {
  calls,
  callsTool,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedStep,
  says,
  scriptedModel,
} from "../models/scripted/scripted-model.ts";
export { type CrashReport, type CrashTestOptions, crashTest, type EffectCount } from "./crash-test.ts";
export { type Effect, type EffectLedger, type RecordedEffect, startEffectLedger } from "./effect-ledger.ts";
export { type HeldClock, heldClock } from "./held-clock.ts";
export { type LedgerClient, openEffectLedger, recordEffect } from "./ledger-client.ts";
export { type Replacement, replaceSteps } from "./replace-steps.ts";
export { type Ending, type Scenario, type Stage, scenario, type World } from "./scenario.ts";
