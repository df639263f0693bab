// What a run in memory works with. Everything is optional: a run without operations fails at its first call.
import type { Hooks } from "../../contracts/hooks.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { RunRecorder } from "../../contracts/workflows/run-recorder.ts";
import type { Operations } from "../steps/operations.ts";
import type { StepFunctions } from "../steps/step-functions.ts";
import type { StepHandler } from "../steps/step-handlers.ts";
import type { StepType } from "../steps/step-type.ts";

/** Where others see how a run stands, and ask it to stop: `createMemoryRunStore`, or anything like it. */
export interface WorkflowRuns {
  start(run: JsonMap): unknown;
  finish(runId: string, status: string): unknown;
  cancelRequested(runId: string): boolean | Promise<boolean>;
}

export type WorkflowHost = {
  readonly operations?: Operations | undefined;
  /** What steps of the type `function` run, beside the functions of the workflow itself. */
  readonly functions?: StepFunctions | undefined;
  /** Types of steps with schemas, as `stepType` makes them, beside those of the workflow itself. */
  readonly stepTypes?: readonly StepType[] | undefined;
  /** What carries out further types of steps, before all others. */
  readonly stepHandlers?: Readonly<Record<string, StepHandler>> | undefined;
  readonly recorder?: RunRecorder | undefined;
  readonly runs?: WorkflowRuns | undefined;
  readonly hooks?: Hooks | undefined;
  /** Milliseconds since 1970; the process's clock unless given. */
  readonly now?: (() => number) | undefined;
  readonly newRunId?: (() => string) | undefined;
  /** Parts of steps that are carried out at the same time; one after another unless given. */
  readonly room?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Who keeps the records of this host's runs. */
export async function recorderOf({ recorder, hooks }: WorkflowHost): Promise<RunRecorder | undefined> {
  return recorder ?? (await hooks?.apply("workflowRunRecorder", null)) ?? undefined;
}

/** Milliseconds since 1970, by the clock of the host. */
export function clockOf({ now = Date.now }: WorkflowHost): () => number {
  return now;
}

/** The types of steps that the machine carries out, unless the host does that itself. */
export function ownTypesOf({ stepHandlers }: WorkflowHost): ReadonlySet<string> {
  return new Set(["sleep", "branch"].filter((type) => stepHandlers?.[type] === undefined));
}
