// Carries single steps out in this process: operations, tools, functions, and types of steps that a program or a host adds.
import { operationError } from "../../contracts/operation-error.ts";
import type { Outcome } from "../machine/next.ts";
import {
  contractHandlers,
  hostHandlers,
  runStep,
  type StepHandler,
  type StepHandlers,
} from "../steps/step-handlers.ts";
import { workHandlers } from "../steps/work-handlers.ts";
import { codeOf } from "./code-of-run.ts";
import type { StepAttempt } from "./step-attempt.ts";
import { revoked } from "./step-errors.ts";
import { callTool } from "./steps/tool-call.ts";

/** What came of the step. What its handler throws is a failed outcome. */
export async function performStep(about: StepAttempt): Promise<Outcome> {
  const { host, run, order, key, signal } = about;
  const { step, context, attempt } = order;
  if (order.kind === "fan_out") return await fanOut(about);
  const { onCrashPoint, trust } = host.threads;
  // A run may outlive the token that it was started with, also while it waits for an approval or for another attempt.
  if (await trust.authority.isRevoked(run.principal)) return { as: "failed", error: revoked };
  await onCrashPoint(`before step ${String(step.type)}`);
  const handlers = await handlersFor(about);
  // Only handlers of the host look around: for them all that the step could refer to is read.
  const seen = await (handlers.ofHost.has(String(step.type)) ? run.known.reading(context) : undefined);
  const around = () => seen ?? context();
  const outcome = await runStep(handlers.all, step, around, { signal, idempotencyKey: key, attempt });
  await onCrashPoint(`after step ${String(step.type)}`);
  return outcome;
}

/** A gate may decline that a parallel step is carried out; its branches are always steps of this run. */
async function fanOut({ host: { hooks }, run, order }: StepAttempt): Promise<Outcome> {
  const isWanted = hooks?.has("workflowShouldFanout")
    ? await hooks.apply("workflowShouldFanout", true, order.step, await run.known.reading(order.context))
    : true;
  if (isWanted) return { as: "in_parts" };
  return { as: "succeeded", output: { fanned_out: false, reason: "fanout_gate_declined" } };
}

type Handlers = { readonly all: StepHandlers; readonly ofHost: StepHandlers };

async function handlersFor(about: StepAttempt): Promise<Handlers> {
  const { host, run, order } = about;
  const { hooks, stepHandlers = {} } = host;
  const operations = host.operations(run.principal);
  const added = (await hooks?.apply("workflowStepHandlers", stepHandlers)) ?? stepHandlers;
  const usable = Object.entries(added).filter(
    (entry): entry is [string, StepHandler] => typeof entry[1] === "function",
  );
  const { functions, stepTypes } = codeOf(host, run);
  const contract = contractHandlers({
    has: async (name) => host.tools.has(name) || (await operations.has(name)),
    async call(name, input, call) {
      if (await operations.has(name)) {
        return await operations.call(name, input, {
          ...call,
          idempotencyKey: operationKey(call.idempotencyKey, order.attempt),
        });
      }
      const tool = host.tools.get(name);
      return tool
        ? await callTool(about, tool, input, call.signal)
        : operationError("unknown_ability", `There is no ability "${name}".`);
    },
  });
  const ofHost = hostHandlers(usable);
  return { all: new Map([...contract, ...workHandlers(functions, stepTypes), ...ofHost]), ofHost };
}

/** An operation keeps its first answer under a key, refusals included: another attempt has a key of its own. */
export function operationKey(stepKey: string, attempt: number): string {
  return `${stepKey}:${attempt}`;
}
