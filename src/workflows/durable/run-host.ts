// What the driver of runs works with: the runtime that threads run on, and what workflows of this process consist of.
import type { Hooks } from "../../contracts/hooks.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { Host } from "../../threads/host.ts";
import type { Tool } from "../../threads/tool.ts";
import type { Operations } from "../steps/operations.ts";
import type { StepFunctions } from "../steps/step-functions.ts";
import type { StepHandler } from "../steps/step-handlers.ts";
import type { StepType } from "../steps/step-type.ts";
import type { KnownWorkflows } from "./known-workflows.ts";

/** `lost`: it was begun, and the process that was at it is gone; or the operation takes no keys. */
export type FirstAnswer = "known" | "never_begun" | "under_way" | "lost";

/** What an operation answers to steps, and whether it may be called again when its outcome is unknown. */
export interface StepOperations extends Operations {
  /** True when a second call does no harm. */
  isRepeatable(name: string): boolean;
  /** What is known of the first call under a key, without calling. */
  firstAnswer(name: string, key: string): Promise<FirstAnswer>;
}

export type RunHost = {
  /** For tests: the most steps of a run that are read at once, and one after another then. As many as are likely to be needed unless given. */
  readonly rowsAtOnce?: number | undefined;
  /** How long operations keep their first answers, in milliseconds. */
  readonly keepAnswersMs: number;
  /** Whether a principal may have an agent work for it. */
  readonly mayUseAgent: (principal: Principal, slug: string) => Promise<boolean>;
  /** What threads run on: stores, keys, the clock, agents, authority. */
  readonly threads: Host;
  readonly workflows: KnownWorkflows;
  /** The operations of the runtime as a principal may call them. */
  readonly operations: (principal: Principal) => StepOperations;
  /** Tools that steps call by name, beside operations. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Types of steps of any workflow, beside those that a workflow has for itself. */
  readonly stepTypes: readonly StepType[];
  /** Functions that steps of any workflow may run, beside those of the workflow itself. */
  readonly functions: StepFunctions;
  /** Types of steps that the host carries out, as the contract knows them. */
  readonly stepHandlers?: Readonly<Record<string, StepHandler>> | undefined;
  readonly hooks?: Hooks | undefined;
};
