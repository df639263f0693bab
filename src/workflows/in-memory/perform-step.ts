// Carries single steps out, for a run in memory.
import type { Order, Outcome } from "../machine/next.ts";
import { parentOf, ROOT } from "../machine/path.ts";
import {
  contractHandlers,
  hostHandlers,
  runStep,
  type StepHandler,
  type StepHandlers,
} from "../steps/step-handlers.ts";
import type { WorkflowHost } from "./workflow-host.ts";

/** `isPart`: the steps are those of a part of a run and not of a run. It never throws. */
export function stepPerformer(host: WorkflowHost, isPart: boolean): (order: Order) => Promise<Outcome> {
  const handlers = handlersOf(host);
  return async ({ path, step, context }) => {
    const outcome = await runStep(await handlers, step, context, { signal: host.signal });
    // A part cannot wait without a store: what says that it does is an output like any other.
    const mayWait = !isPart && parentOf(path) === ROOT;
    return outcome.as === "suspended" && !mayWait ? { as: "succeeded", output: outcome.returned } : outcome;
  };
}

async function handlersOf({ operations, stepHandlers = {}, hooks }: WorkflowHost): Promise<StepHandlers> {
  const added = (await hooks?.apply("workflowStepHandlers", stepHandlers)) ?? stepHandlers;
  const functions = Object.entries(added).filter(
    (entry): entry is [string, StepHandler] => typeof entry[1] === "function",
  );
  return new Map([...contractHandlers(operations), ...hostHandlers(functions)]);
}
