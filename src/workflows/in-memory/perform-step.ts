// Carries single steps out, for a run in memory.
import type { Order, Outcome } from "../machine/next.ts";
import { ON_FAILURE, parentOf, ROLLBACK, ROOT } from "../machine/path.ts";
import {
  contractHandlers,
  hostHandlers,
  runStep,
  type StepHandler,
  type StepHandlers,
} from "../steps/step-handlers.ts";
import { workHandlers } from "../steps/work-handlers.ts";
import type { WorkflowHost } from "./workflow-host.ts";

/** The idempotency key of a step by its path. */
export type KeyOf = (path: string) => string;

/** Keys for the steps of a run, or for those of an aggregator that runs behind the step `aggregating`. */
export function keysOf(runId: string, aggregating?: string): KeyOf {
  const within = aggregating === undefined ? "" : `${aggregating}/aggregate/`;
  // A path comes first because no path has an @ in it, and the id of a run may have anything.
  return (path) => `${within}${path}@${runId}`;
}

/** `isPart`: the steps are those of a part of a run and not of a run. */
export function stepPerformer(host: WorkflowHost, keyOf: KeyOf, isPart: boolean): (order: Order) => Promise<Outcome> {
  let handlers: Promise<StepHandlers> | undefined;
  return async ({ path, attempt, step, context }) => {
    handlers ??= handlersOf(host);
    // A run that was stopped is rolled back all the same.
    const signal = isAfterwards(path) ? undefined : host.signal;
    const outcome = await runStep(await handlers, step, context, { signal, idempotencyKey: keyOf(path), attempt });
    // A part cannot wait without a store: what says that it does is an output like any other.
    const mayWait = !isPart && parentOf(path) === ROOT;
    return outcome.as === "suspended" && !mayWait ? { as: "succeeded", output: outcome.returned } : outcome;
  };
}

/** True for what undoes steps, and for what runs after a failure. */
function isAfterwards(path: string): boolean {
  return path.startsWith(`${ROLLBACK}/`) || path.startsWith(`${ON_FAILURE}/`);
}

async function handlersOf(host: WorkflowHost): Promise<StepHandlers> {
  const { operations, functions, stepTypes, stepHandlers = {}, hooks } = host;
  const added = (await hooks?.apply("workflowStepHandlers", stepHandlers)) ?? stepHandlers;
  const usable = Object.entries(added).filter(
    (entry): entry is [string, StepHandler] => typeof entry[1] === "function",
  );
  return new Map([...contractHandlers(operations), ...workHandlers(functions, stepTypes), ...hostHandlers(usable)]);
}
