// The operations on runs of runtime packages: start one, see how far it is, ask it to stop. A host's handler does the
// work; run control keeps the record. They refuse with a coded value; only what nobody planned for, such as a store that
// fails, is thrown.
import { randomBytes } from "node:crypto";
import { askHandler, findHandler } from "../contracts/ask-handler.ts";
import { identifier } from "../contracts/coerce.ts";
import type { Run } from "../contracts/conversation/run-control.ts";
import {
  cancelRun,
  type EventsView,
  getRun,
  listRunEvents,
  type RunKind,
  type RunView,
  type WatchedRunHost,
  type WatchedRunStore,
} from "../contracts/conversation/watched-runs.ts";
import { type JsonMap, snapshotMap } from "../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../contracts/operation-error.ts";
import * as packageRun from "../contracts/packages/package-run.ts";
import type { Handler } from "../contracts/seams.ts";

/** Where the runs are kept: `createMemoryRunStore`, or anything like it that takes its time. */
interface PackageRunStore extends WatchedRunStore {
  start(run: JsonMap): Run | Promise<Run>;
  save(run: JsonMap): Run | Promise<Run>;
  finish(runId: string, status: "failed"): Run | undefined | Promise<Run | undefined>;
}

/** What the operations work with. A handler answers with a map, or refuses with `{ code, message }`. */
type PackageRunHost = WatchedRunHost & {
  readonly runs: PackageRunStore;
  /** Runs a package; it is given the normalised request, with the run id in its options. */
  readonly handler?: Handler | undefined;
  readonly newId?: (() => string) | undefined;
};

const packageRuns: RunKind = {
  seams: {
    status: "runtimePackageRunStatusHandler",
    cancel: "runtimePackageRunCancelHandler",
    events: "runtimePackageRunEventsHandler",
  },
  codes: {
    handlerFailed: "agents_runtime_package_run_handler_failed",
    invalidStatus: "agents_runtime_package_run_invalid_status",
    invalidCancelResult: "agents_runtime_package_run_invalid_cancel_result",
    invalidEventsResult: "agents_runtime_package_run_invalid_events_result",
  },
  notFound: (runId) =>
    operationError("agents_runtime_package_run_not_found", `There is no runtime package run "${runId}".`),
};

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
export function get(input: unknown, host: WatchedRunHost): Promise<RunView> {
  return getRun(packageRuns, input, host);
}

/** Asks a run to stop and says whether it still could. Whoever may stop a run may see it: nothing is redacted. */
export function cancel(input: unknown, host: WatchedRunHost): Promise<RunView> {
  return cancelRun(packageRuns, input, host);
}

/** One run and a page of its events, redacted like the run alone. */
export function events(input: unknown, host: WatchedRunHost): Promise<EventsView> {
  return listRunEvents(packageRuns, input, host);
}

async function runPackage(
  request: packageRun.PackageRunRequest,
  given: JsonMap,
  host: PackageRunHost,
): Promise<JsonMap | OperationError> {
  const handler = await findHandler("runtimePackageRunHandler", host.handler, given, host.hooks);
  if (!handler) return noHandler;
  return (await askHandler(handler, request, packageRuns.codes.handlerFailed)) ?? invalidResult;
}

// `pending` and `skipped` are no words of run control, which reads them as running: such a run can still be cancelled.
async function saveStatus(runId: string, status: string, runs: PackageRunStore): Promise<void> {
  const run = await runs.get(runId);
  // Somebody may have asked the run to stop while the handler was at work; as long as it goes on, that stands.
  const isStopping = run?.status === "cancelling" && ["pending", "running", "skipped"].includes(status);
  // A save that states no time is stamped with its own.
  await runs.save({ ...run, run_id: runId, status: isStopping ? "cancelling" : status, updated_at: "" });
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

function runIdOf(given: JsonMap): string | undefined {
  return identifier(given.run_id);
}

function newRunId(): string {
  return `runtime_run_${randomBytes(16).toString("hex")}`;
}
