// The runs of a chat for those who watch and steer them. A host that keeps runs itself answers in the store's place.
import { identifier, nonEmptyString, scalarText } from "../coerce.ts";
import { type ChatRunControl, normalizeChatRun } from "../conversation/chat-run-control.ts";
import type { Run } from "../conversation/run-control.ts";
import * as report from "../conversation/run-control-results.ts";
import { redactPayload } from "../conversation/run-redaction.ts";
import type { Hooks } from "../hooks.ts";
import { type JsonMap, seal, snapshotMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import type { ConversationOwner } from "../trust/conversation-owner.ts";
import { chatRunContext, type RunContextHost } from "./run-context.ts";

export type ChatRunsHost = RunContextHost & {
  readonly runs: Pick<ChatRunControl, "get" | "events" | "cancel" | "queue">;
  readonly hooks?: Hooks | undefined;
  /** Whether whoever asks may see runs as they are; without it nobody may. */
  readonly mayReadUnredacted?: ((input: JsonMap) => boolean | Promise<boolean>) | undefined;
};

type Owner = ConversationOwner | undefined;

/** One run, redacted unless whoever asks may see it as it is. */
export function getRun(input: unknown, host: ChatRunsHost): Promise<Run | OperationError> {
  return asked(input, host, async (given, owner) => {
    const answer = await reported("chatRunStatusHandler", given, host);
    if (answer === undefined) return await shown(await ownRun(given, owner, host), given, host);
    const run = readReport(answer.report, report.normalizeStatusResult, "agents_chat_run_invalid_status");
    return await shown(run, given, host);
  });
}

/** One run and a page of its events, redacted like the run alone. */
export function listRunEvents(input: unknown, host: ChatRunsHost): Promise<report.ReportedEvents | OperationError> {
  return asked(input, host, async (given, owner) => {
    const answer = await reported("chatRunEventsHandler", given, host);
    if (answer !== undefined) {
      const told = readReport(answer.report, report.normalizeEventsResult, "agents_chat_run_invalid_events_result");
      return await shown(told, given, host);
    }
    // Whose a run is tells who may watch it; in which session it is, the answer tells.
    const page = await host.runs.events(identifier(given.run_id) ?? "", given, owner);
    return await shown(page ?? notFound(given), given, host);
  });
}

/** Asks a run to stop and says whether it still could. Whoever may stop a run may see it: nothing is redacted. */
export function cancelRun(input: unknown, host: ChatRunsHost): Promise<Run | OperationError> {
  return asked(input, host, async (given, owner) => {
    const answer = await reported("chatRunCancelHandler", given, host);
    if (answer !== undefined) {
      return readReport(answer.report, report.normalizeCancelResult, "agents_chat_run_invalid_cancel_result");
    }
    const run = await ownRun(given, owner, host);
    return isOperationError(run) ? run : ((await host.runs.cancel(run.run_id, owner)) ?? notFound(given));
  });
}

const INVALID_QUEUED = "agents_chat_message_queue_invalid_result";

/** Leaves a message behind the run that is named, or behind the newest of the session. */
export function queueMessage(input: unknown, host: ChatRunsHost): Promise<Run | OperationError> {
  return asked(input, host, async (given, owner) => {
    const answer = await reported("chatMessageQueueHandler", given, host);
    if (answer === undefined) {
      const isNamed = identifier(given.session_id) !== undefined;
      return isNamed ? await host.runs.queue(given, owner) : notFound(given);
    }
    const run = readReport(answer.report, report.normalizeStatusResult, INVALID_QUEUED);
    if (isOperationError(run)) return run;
    if (nonEmptyString(run.queued_message_id) === undefined) {
      return operationError(INVALID_QUEUED, "queued_message_id must be a non-empty string");
    }
    return seal({ ...run, position: run.position ?? 0 });
  });
}

async function asked<Answer>(
  input: unknown,
  host: ChatRunsHost,
  operate: (given: JsonMap, owner: Owner) => Promise<Answer | OperationError>,
): Promise<Answer | OperationError> {
  const given = snapshotMap(input);
  const context = await chatRunContext(given, host);
  return isOperationError(context) ? context : await operate(given, context.owner ?? undefined);
}

/** The run that is named, if it is one of that session and that owner. */
async function ownRun(given: JsonMap, owner: Owner, { runs }: ChatRunsHost): Promise<Run | OperationError> {
  const run = await runs.get(identifier(given.run_id) ?? "", owner);
  return run && run.session_id === identifier(given.session_id) ? run : notFound(given);
}

type HandlerSeam = "chatRunStatusHandler" | "chatRunEventsHandler" | "chatRunCancelHandler" | "chatMessageQueueHandler";

/** What a host's handler reports; undefined where none is. */
async function reported(seam: HandlerSeam, given: JsonMap, { hooks }: ChatRunsHost) {
  const handler = await hooks?.apply(seam, null, given);
  return handler ? { report: await handler(given) } : undefined;
}

type Normalize<Report> = (result: unknown, code: string, normalize: (value: unknown) => Run) => Report | OperationError;

function readReport<Report>(answer: unknown, normalize: Normalize<Report>, code: string): Report | OperationError {
  return isOperationError(answer) ? answer : normalize(answer, code, normalizeChatRun);
}

async function shown<View extends Run>(
  view: View | OperationError,
  given: JsonMap,
  { mayReadUnredacted }: ChatRunsHost,
): Promise<View | OperationError> {
  if (isOperationError(view)) return view;
  // None of a run's fields that are covered up is a number or a list, so what comes back still reads as a run.
  return (await mayReadUnredacted?.(given)) === true ? view : (redactPayload(view) as View);
}

function notFound({ run_id }: JsonMap): OperationError {
  return operationError("agents_chat_run_not_found", `There is no run "${scalarText(run_id) ?? ""}" in this session.`);
}
