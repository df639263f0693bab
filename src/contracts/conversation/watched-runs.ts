// Seeing how far a run is and asking it to stop, for the kinds of runs that a host's handlers may keep in the store's
// place. Refusals are values; only what nobody planned for, such as a store that fails, is thrown.
import { askHandler, findHandler, type HandlerSeam } from "../ask-handler.ts";
import { identifier } from "../coerce.ts";
import type { Hooks } from "../hooks.ts";
import { type JsonMap, snapshotMap } from "../json.ts";
import { isOperationError, type OperationError } from "../operation-error.ts";
import type { Handler } from "../seams.ts";
import { quietly } from "../when-ready.ts";
import type { Run, RunEvents } from "./run-control.ts";
import * as report from "./run-control-results.ts";
import { redactPayload } from "./run-redaction.ts";

/** Where the runs are kept: `createMemoryRunStore`, or anything like it that takes its time. */
export interface WatchedRunStore {
  get(runId: string): Run | undefined | Promise<Run | undefined>;
  cancel(runId: string): Run | undefined | Promise<Run | undefined>;
  events(runId: string, page: JsonMap): RunEvents | undefined | Promise<RunEvents | undefined>;
}

export type WatchedRunHost = {
  readonly runs: WatchedRunStore;
  readonly hooks?: Hooks | undefined;
  /** These three answer in the store's place, for a host that keeps the runs itself. */
  readonly statusHandler?: Handler | undefined;
  readonly cancelHandler?: Handler | undefined;
  readonly eventsHandler?: Handler | undefined;
  /** Whether whoever asks may see runs as they are; without it nobody may. */
  readonly mayReadUnredacted?: ((input: JsonMap) => boolean | Promise<boolean>) | undefined;
};

/** What one kind of run has for its own: the seams of its handlers, and its codes. */
export type RunKind = {
  readonly seams: { readonly status: HandlerSeam; readonly cancel: HandlerSeam; readonly events: HandlerSeam };
  readonly codes: {
    readonly handlerFailed: string;
    readonly invalidStatus: string;
    readonly invalidCancelResult: string;
    readonly invalidEventsResult: string;
  };
  readonly notFound: (runId: string) => OperationError;
};

export type RunView = Run | OperationError;
export type EventsView = report.ReportedEvents | OperationError;

/** One run, redacted unless whoever asks may see it as it is. */
export async function getRun({ seams, codes, notFound }: RunKind, input: unknown, host: WatchedRunHost) {
  const given = snapshotMap(input);
  const handler = await findHandler(seams.status, host.statusHandler, given, host.hooks);
  const run: RunView = handler
    ? read(await askHandler(handler, given, codes.handlerFailed), report.normalizeStatusResult, codes.invalidStatus)
    : ((await host.runs.get(runIdOf(given))) ?? notFound(runIdOf(given)));
  return redactFor(run, given, host);
}

/** Asks a run to stop and says whether it still could. Whoever may stop a run may see it: nothing is redacted. */
export async function cancelRun(
  { seams, codes, notFound }: RunKind,
  input: unknown,
  host: WatchedRunHost,
): Promise<RunView> {
  const given = snapshotMap(input);
  const handler = await findHandler(seams.cancel, host.cancelHandler, given, host.hooks);
  if (!handler) return (await host.runs.cancel(runIdOf(given))) ?? notFound(runIdOf(given));
  const answer = await askHandler(handler, given, codes.handlerFailed);
  return read(answer, report.normalizeCancelResult, codes.invalidCancelResult);
}

/** One run and a page of its events, redacted like the run alone. */
export async function listRunEvents({ seams, codes, notFound }: RunKind, input: unknown, host: WatchedRunHost) {
  const given = snapshotMap(input);
  const handler = await findHandler(seams.events, host.eventsHandler, given, host.hooks);
  const page: EventsView = handler
    ? read(
        await askHandler(handler, given, codes.handlerFailed),
        report.normalizeEventsResult,
        codes.invalidEventsResult,
      )
    : ((await host.runs.events(runIdOf(given), given)) ?? notFound(runIdOf(given)));
  return redactFor(page, given, host);
}

function read<Report>(
  answer: JsonMap | OperationError | undefined,
  normalize: (result: unknown, code: string) => Report | OperationError,
  code: string,
): Report | OperationError {
  return isOperationError(answer) ? answer : normalize(answer, code);
}

async function redactFor<View extends Run>(
  view: View | OperationError,
  given: JsonMap,
  { mayReadUnredacted }: WatchedRunHost,
): Promise<View | OperationError> {
  if (isOperationError(view)) return view;
  // A check that fails has not allowed anything.
  const mayRead = await quietly(() => mayReadUnredacted?.(given));
  // None of a run's fields that are covered up is a number or a list, so what comes back still reads as a run.
  return mayRead === true ? view : (redactPayload(view) as View);
}

function runIdOf(given: JsonMap): string {
  return identifier(given.run_id) ?? "";
}
