// A step that was begun by a process that is gone: what it did is found out, or it is carried out again where that does no harm.
// It never runs a second time in silence.
import { setTimeout as pause } from "node:timers/promises";
import type { StoredCall } from "../../backend/thread-rows.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { isOperationError } from "../../contracts/operation-error.ts";
import { isIdempotent } from "../../contracts/workflows/step-options.ts";
import { type Reconciled, readReconciled } from "../../threads/tool.ts";
import type { Outcome } from "../machine/next.ts";
import { workOfFunction } from "../steps/step-functions.ts";
import type { StepWork } from "../steps/step-work.ts";
import { codeOf } from "./code-of-run.ts";
import { operationKey, performStep } from "./perform-step.ts";
import type { FirstAnswer } from "./run-host.ts";
import type { StepAttempt } from "./step-attempt.ts";
import { outcomeUnknown } from "./step-errors.ts";
import { toolOfStep } from "./steps/approval-step.ts";

/** What the code that carries a step out says about a second run. */
type Repeatable = {
  /** True when running twice under one key is the same as running once. */
  readonly isIdempotent: boolean;
  /** What is known of the first answer of an operation under the key of the step. */
  readonly firstAnswer?: () => Promise<FirstAnswer>;
  /** Finds out what a run of it did. */
  readonly reconcile?: (about: { readonly idempotencyKey: string; readonly signal: AbortSignal }) => unknown;
};

/** `begun`: the entry of the ledger as the process before has left it. */
export async function settleStep(about: StepAttempt, begun: StoredCall | undefined): Promise<Outcome> {
  const { host, run, key, signal, order } = about;
  if (order.kind === "fan_out") return await performStep(about);
  const { isIdempotent: isRepeatable, reconcile, firstAnswer } = await repeatableOf(about);
  if (reconcile) {
    await host.threads.onCrashPoint("before reconcile");
    const found = await ask(reconcile, { idempotencyKey: key, signal });
    await host.threads.onCrashPoint("after reconcile");
    if (found.status === "done") return { as: "succeeded", output: outputOf(found.result) };
    if (found.status === "absent") {
      await untilCertain(about, begun);
      return signal.aborted ? { as: "failed", error: outcomeUnknown } : await again(about);
    }
  }
  if (run.givenUp.aborted) return { as: "failed", error: outcomeUnknown };
  if (isRepeatable) return await again(about);
  return firstAnswer && isYoung(about, begun) ? await fromFirstAnswer(about, firstAnswer) : unknown;
}

const unknown: Outcome = { as: "failed", error: outcomeUnknown };

/** Nothing is begun without a lease: settling may have taken long. */
async function again(about: StepAttempt): Promise<Outcome> {
  await about.renew();
  return await performStep(about);
}

/** An operation keeps its first answer under its key, and says whether it was begun at all. */
async function fromFirstAnswer(
  about: StepAttempt,
  firstAnswer: NonNullable<Repeatable["firstAnswer"]>,
): Promise<Outcome> {
  for (;;) {
    const first = await firstAnswer();
    // Under the same key the operation answers what it answered then, or is carried out for the first time.
    if (first === "known" || first === "never_begun") return await again(about);
    if (first === "lost" || about.signal.aborted) return unknown;
    await pause(UNDER_WAY_PAUSE_MS, undefined, { signal: about.signal }).catch(() => undefined);
  }
}

/** First answers are forgotten after a time: then it cannot be said that an operation was never begun. */
function isYoung({ host }: StepAttempt, begun: StoredCall | undefined): boolean {
  return begun !== undefined && host.threads.now() - begun.begun_at / 1_000 < host.keepAnswersMs;
}

const UNDER_WAY_PAUSE_MS = 5_000;

async function repeatableOf({ host, run, key, order: { step, attempt } }: StepAttempt): Promise<Repeatable> {
  // What the author of the workflow says of the step counts for whatever it calls.
  const isDeclared = isIdempotent(step);
  const { functions, stepTypes } = codeOf(host, run);
  const type = stepTypes.findLast((each) => each.type === step.type);
  const work = step.type === "function" ? workOfFunction(functions, step.function) : type;
  if (work) return repeatableWork(work, step);
  const tool = await toolOfStep(host, run.principal, step);
  if (tool) {
    const { idempotent, reconcile } = tool;
    const input = snapshotMap(step.args);
    return {
      isIdempotent: isDeclared || idempotent,
      ...(reconcile && { reconcile: (asked) => reconcile({ ...asked, input, threadId: run.id }) }),
    };
  }
  const name = step.type === "agent" ? "agents/chat" : String(step.ability ?? "");
  const operations = host.operations(run.principal);
  return {
    isIdempotent: isDeclared || operations.isRepeatable(name),
    firstAnswer: () => operations.firstAnswer(name, operationKey(key, attempt)),
  };
}

/** What a work says that it has done has to fit like what it returns. */
function repeatableWork({ idempotent, reconcile, checkOutput }: StepWork, step: JsonMap): Repeatable {
  const isRepeatable = isIdempotent(step, idempotent);
  if (!reconcile) return { isIdempotent: isRepeatable };
  return {
    isIdempotent: isRepeatable,
    async reconcile(asked) {
      const found = readReconciled(await reconcile({ ...asked, input: step.input ?? null }));
      if (found.status !== "done") return found;
      const output = await checkOutput(found.result);
      return output.ok ? { status: "done", result: output.value } : { status: "unknown" };
    },
  };
}

async function ask(
  reconcile: NonNullable<Repeatable["reconcile"]>,
  asked: Parameters<NonNullable<Repeatable["reconcile"]>>[0],
): Promise<Reconciled> {
  try {
    return readReconciled(await reconcile(asked));
  } catch {
    return { status: "unknown" };
  }
}

/** That nothing was done counts only once the process that began it cannot be about to do it. */
async function untilCertain({ host, signal }: StepAttempt, begun: StoredCall | undefined): Promise<void> {
  const { stores, isShared } = host.threads;
  if (!isShared || !begun) return;
  const left = (begun.certain_at - (await stores.requests.now())) / 1_000;
  if (left > 0) await pause(left, undefined, { signal }).catch(() => undefined);
}

function outputOf(result: unknown) {
  if (isOperationError(result)) return { value: null };
  const value = result === undefined ? null : result;
  return typeof value === "object" && value !== null
    ? snapshotMap(value)
    : { value: value as string | number | boolean | null };
}
