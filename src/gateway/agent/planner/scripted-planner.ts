// A planner that decides what a script says: for tests and examples, without a model and without chance.
import { holdfastError } from "../../../contracts/error.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { FrameAnswer, PlanInput, Planner, ReflectInput } from "./planner.ts";

/** What the planner decides at one point of a run. */
export type ScriptedDecision =
  /** Use a tool; `reframe` frames the goal anew first. */
  | {
      readonly decision?: "continue" | "reframe";
      readonly tool: string;
      readonly tool_command?: string;
      readonly tool_payload?: JsonMap;
      readonly rationale?: string;
      readonly memory_update?: string | readonly string[];
      readonly summary?: string;
    }
  /** The same action again. */
  | { readonly decision: "retry" }
  | {
      readonly decision: "done";
      readonly outcome: string;
      readonly artifacts?: readonly string[];
      readonly summary?: string;
    }
  | { readonly decision: "escalate"; readonly detail: string }
  /** There is nothing left to do. */
  | { readonly decision: "none" };

/** A decision, or a function that makes one of what the planner is shown; what it throws, the planner throws. */
export type ScriptedPlannerStep =
  | ScriptedDecision
  | ((input: PlanInput | ReflectInput) => ScriptedDecision | Promise<ScriptedDecision>);

/**
 * A planner that takes the first decision for the first turn, and the decision at place n after step n. It keeps nothing:
 * a process that takes over after a crash decides the same. It throws `script_ended` where the script has no decision.
 */
export function scriptedPlanner(
  script: readonly ScriptedPlannerStep[],
  { frame = { todo: ["The goal is reached."] } }: { readonly frame?: FrameAnswer } = {},
): Planner {
  async function decide(input: PlanInput | ReflectInput): Promise<ScriptedDecision> {
    const place = input.steps_taken;
    const step = script[place];
    if (!step) {
      throw holdfastError("script_ended", `There is no decision ${place + 1} in a script of ${script.length}.`);
    }
    return typeof step === "function" ? await step(input) : step;
  }
  return {
    frame: () => frame,
    async reflect(input) {
      const decided = await decide(input);
      if ("tool" in decided) {
        const { decision = "continue", memory_update, summary } = decided;
        return { decision, memory_update, summary };
      }
      return decided.decision === "none" ? { decision: "continue" } : decided;
    },
    async plan(input) {
      const decided = await decide(input);
      if (!("tool" in decided)) return decided.decision === "done" ? decided : null;
      const { tool, tool_command, tool_payload, rationale } = decided;
      return { decision: "act", tool, tool_command, tool_payload, rationale };
    },
  };
}
