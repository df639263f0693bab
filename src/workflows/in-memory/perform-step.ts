// Carries single steps out, for a run in memory.
import type { Order, Outcome } from "../machine/next.ts";
import { parentOf, ROOT } from "../machine/path.ts";
import { functionHandler } from "../steps/step-functions.ts";
import {
  contractHandlers,
  hostHandlers,
  runStep,
  type StepHandler,
  type StepHandlers,
} from "../steps/step-handlers.ts";
import type { WorkflowHost } from "./workflow-host.ts";

/** The idempotency key of a step by its path. */
export type KeyOf = (path: string) => string;

/** Keys for the steps of a run, or for those of an aggregator that runs behind the step `aggregating`. */
export function keysOf(runId: string, aggregating?: string): KeyOf {
  const within = aggregating === undefined ? "" : `${aggregating}/aggregate/`;
  // A path comes first because no path has an @ in it, and the id of a run may have anything.
  return (path) => `${within}${path}@${runId}`;
}

/** `isPart`: the steps are those of a part of a run and not of a run. It never throws. */
export function stepPerformer(host: WorkflowHost, keyOf: KeyOf, isPart: boolean): (order: Order) => Promise<Outcome> {
  const handlers = handlersOf(host);
  return async ({ path, step, context }) => {
    const call = { signal: host.signal, idempotencyKey: keyOf(path) };
    const outcome = await runStep(await handlers, step, context, call);
    // A part cannot wait without a store: what says that it does is an output like any other.
    const mayWait = !isPart && parentOf(path) === ROOT;
    return outcome.as === "suspended" && !mayWait ? { as: "succeeded", output: outcome.returned } : outcome;
  };
}

async function handlersOf({ operations, functions, stepHandlers = {}, hooks }: WorkflowHost): Promise<StepHandlers> {
  const added = (await hooks?.apply("workflowStepHandlers", stepHandlers)) ?? stepHandlers;
  const usable = Object.entries(added).filter(
    (entry): entry is [string, StepHandler] => typeof entry[1] === "function",
  );
  const own = functions ? ([["function", functionHandler(functions)]] as const) : [];
  return new Map([...contractHandlers(operations), ...own, ...hostHandlers(usable)]);
}
