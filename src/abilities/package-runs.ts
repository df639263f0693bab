// The operations on runs of runtime packages: start one, see how far it is, ask it to stop. A host's handler does the
// work; run control keeps the record. They refuse with a coded value; only what nobody planned for, such as a store that
// fails, is thrown.
import { randomBytes } from "node:crypto";
import { identifier } from "../contracts/coerce.ts";
import type { Run, RunEvents } from "../contracts/conversation/run-control.ts";
import * as report from "../contracts/conversation/run-control-results.ts";
import { redactPayload } from "../contracts/conversation/run-redaction.ts";
import type { Hooks } from "../contracts/hooks.ts";
import { asMap, type JsonMap, snapshot, snapshotMap } from "../contracts/json.ts";
import {
  isOperationError,
  type OperationError,
  operationError,
  operationErrorOf,
} from "../contracts/operation-error.ts";
import * as packageRun from "../contracts/packages/package-run.ts";
import type { Handler } from "../contracts/seams.ts";
import { quietly } from "../contracts/when-ready.ts";

/** Where the runs are kept: `createMemoryRunStore`, or anything like it that takes its time. */
interface PackageRunStore {
  start(run: JsonMap): Run | Promise<Run>;
  save(run: JsonMap): Run | Promise<Run>;
  get(runId: string): Run | undefined | Promise<Run | undefined>;
  finish(runId: string, status: "failed"): Run | undefined | Promise<Run | undefined>;
  cancel(runId: string): Run | undefined | Promise<Run | undefined>;
  events(runId: string, page: JsonMap): RunEvents | undefined | Promise<RunEvents | undefined>;
}

/** What the operations work with. A handler answers with a map, or refuses with `{ code, message }`. */
type PackageRunHost = {
  readonly runs: PackageRunStore;
  readonly hooks?: Hooks | undefined;
  /** Runs a package; it is given the normalised request, with the run id in its options. */
  readonly handler?: Handler | undefined;
  /** These three answer in the store's place, for a host that keeps the runs itself. */
  readonly statusHandler?: Handler | undefined;
  readonly cancelHandler?: Handler | undefined;
  readonly eventsHandler?: Handler | undefined;
  /** Whether whoever asks may see runs as they are; without it nobody may. */
  readonly mayReadUnredacted?: ((input: JsonMap) => boolean | Promise<boolean>) | undefined;
  readonly newId?: (() => string) | undefined;
};

type RunView = Run | OperationError;
type EventsView = report.ReportedEvents | OperationError;

/**
 * Runs a workflow of a package. The run is recorded before the handler begins, and as failed whenever a refusal comes
 * back; a request that is incomplete leaves no record. Each refusal tells `runtimePackageRunDispatchFailed`.
 */
export async function dispatch(
  input: unknown,
  host: PackageRunHost,
): Promise<packageRun.PackageRunResult | OperationError> {
  const given = snapshotMap(input);
  const run_id = runIdOf(given) ?? (host.newId ?? newRunId)();
  const request = packageRun.request({ ...given, options: { ...snapshotMap(given.options), run_id } });
  if (isOperationError(request)) return tellFailure(request, given, host);

  await host.runs.start({ run_id, metadata: { package: request.package, workflow: request.workflow } });
  const answer = await runPackage(request, given, host);
  if (isOperationError(answer)) {
    await host.runs.finish(run_id, "failed");
    return tellFailure(answer, given, host);
  }
  const result = packageRun.result({ ...answer, run_id });
  await saveStatus(run_id, result.status, host.runs);
  return result;
}

/** One run, redacted unless whoever asks may see it as it is. */
export async function get(input: unknown, host: PackageRunHost): Promise<RunView> {
  const given = snapshotMap(input);
  const handler = await findHandler("runtimePackageRunStatusHandler", host.statusHandler, given, host);
  const run = handler
    ? readAnswer(await ask(handler, given), report.normalizeStatusResult, "agents_runtime_package_run_invalid_status")
    : ((await host.runs.get(runIdOf(given) ?? "")) ?? notFound(given));
  return redactFor(run, given, host);
}

/** Asks a run to stop and says whether it still could. Whoever may stop a run may see it: nothing is redacted. */
export async function cancel(input: unknown, host: PackageRunHost): Promise<RunView> {
  const given = snapshotMap(input);
  const handler = await findHandler("runtimePackageRunCancelHandler", host.cancelHandler, given, host);
  if (!handler) return (await host.runs.cancel(runIdOf(given) ?? "")) ?? notFound(given);
  const answer = await ask(handler, given);
  return readAnswer(answer, report.normalizeCancelResult, "agents_runtime_package_run_invalid_cancel_result");
}

/** One run and a page of its events, redacted like the run alone. */
export async function events(input: unknown, host: PackageRunHost): Promise<EventsView> {
  const given = snapshotMap(input);
  const handler = await findHandler("runtimePackageRunEventsHandler", host.eventsHandler, given, host);
  const page = handler
    ? readAnswer(
        await ask(handler, given),
        report.normalizeEventsResult,
        "agents_runtime_package_run_invalid_events_result",
      )
    : ((await host.runs.events(runIdOf(given) ?? "", given)) ?? notFound(given));
  return redactFor(page, given, host);
}

async function runPackage(
  request: packageRun.PackageRunRequest,
  given: JsonMap,
  host: PackageRunHost,
): Promise<JsonMap | OperationError> {
  const handler = await findHandler("runtimePackageRunHandler", host.handler, given, host);
  return handler ? ((await ask(handler, request)) ?? invalidResult) : noHandler;
}

// `pending` and `skipped` are no words of run control, which reads them as running: such a run can still be cancelled.
async function saveStatus(runId: string, status: string, runs: PackageRunStore): Promise<void> {
  const run = await runs.get(runId);
  // Somebody may have asked the run to stop while the handler was at work; as long as it goes on, that stands.
  const isStopping = run?.status === "cancelling" && ["pending", "running", "skipped"].includes(status);
  // A save that states no time is stamped with its own.
  await runs.save({ ...run, run_id: runId, status: isStopping ? "cancelling" : status, updated_at: "" });
}

type HandlerSeam =
  | "runtimePackageRunHandler"
  | "runtimePackageRunStatusHandler"
  | "runtimePackageRunCancelHandler"
  | "runtimePackageRunEventsHandler";

async function findHandler(
  seam: HandlerSeam,
  own: Handler | undefined,
  given: JsonMap,
  { hooks }: PackageRunHost,
): Promise<Handler | undefined> {
  return (await hooks?.apply(seam, own ?? null, given)) ?? own;
}

/** What a handler answers: a map, a refusal, or undefined for anything else. What it throws is a refusal too. */
async function ask(handler: Handler, input: JsonMap): Promise<JsonMap | OperationError | undefined> {
  let answer: unknown;
  try {
    answer = await handler(input);
    if (answer instanceof Error) return refusal(answer);
  } catch (thrown) {
    return refusal(thrown);
  }
  try {
    return asMap(snapshot(answer)) as JsonMap | undefined;
  } catch {
    return undefined; // an answer that is not JSON is no answer
  }
}

function refusal(thrown: unknown): OperationError {
  return operationErrorOf(thrown, "agents_runtime_package_run_handler_failed");
}

function readAnswer<Report>(
  answer: JsonMap | OperationError | undefined,
  normalize: (result: unknown, code: string) => Report | OperationError,
  code: string,
): Report | OperationError {
  return isOperationError(answer) ? answer : normalize(answer, code);
}

const noHandler = operationError("agents_runtime_package_run_no_handler", "Nobody here can run runtime packages.");
const invalidResult = operationError(
  "agents_runtime_package_run_invalid_result",
  "The handler did not answer with a map.",
);

/** The contract has shorter words for our own two refusals; a handler's is told by its code. */
const reasons = new Map<OperationError, string>([
  [noHandler, "no_handler"],
  [invalidResult, "invalid_result"],
]);

function tellFailure(error: OperationError, given: JsonMap, { hooks }: PackageRunHost): OperationError {
  hooks?.emit("runtimePackageRunDispatchFailed", reasons.get(error) ?? error.code, given);
  return error;
}

async function redactFor<View extends Run>(
  view: View | OperationError,
  given: JsonMap,
  { mayReadUnredacted }: PackageRunHost,
): Promise<View | OperationError> {
  if (isOperationError(view)) return view;
  // A check that fails has not allowed anything.
  const mayRead = await quietly(() => mayReadUnredacted?.(given));
  // None of a run's fields that are covered up is a number or a list, so what comes back still reads as a run.
  return mayRead === true ? view : (redactPayload(view) as View);
}

function runIdOf(given: JsonMap): string | undefined {
  return identifier(given.run_id);
}

function newRunId(): string {
  return `runtime_run_${randomBytes(16).toString("hex")}`;
}

function notFound(given: JsonMap): OperationError {
  return operationError(
    "agents_runtime_package_run_not_found",
    `There is no runtime package run "${runIdOf(given) ?? ""}".`,
  );
}
