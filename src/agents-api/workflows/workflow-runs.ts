// How far a workflow run is, and asking it to stop. Run control keeps the runs, or a host's handlers do.
import {
  cancelRun,
  type EventsView,
  getRun,
  listRunEvents,
  type RunKind,
  type RunView,
  type WatchedRunHost,
} from "../../contracts/conversation/watched-runs.ts";
import { runNotFound } from "../../contracts/workflows/run-record.ts";

const workflowRuns: RunKind = {
  seams: {
    status: "workflowRunStatusHandler",
    cancel: "workflowRunCancelHandler",
    events: "workflowRunEventsHandler",
  },
  codes: {
    handlerFailed: "agents_workflow_run_handler_failed",
    invalidStatus: "agents_workflow_run_invalid_status",
    invalidCancelResult: "agents_workflow_run_invalid_cancel_result",
    invalidEventsResult: "agents_workflow_run_invalid_events_result",
  },
  notFound: runNotFound,
};

/** One run, redacted unless whoever asks may see it as it is. */
export function getWorkflowRun(input: unknown, host: WatchedRunHost): Promise<RunView> {
  return getRun(workflowRuns, input, host);
}

/** Asks a run to stop and says whether it still could; nothing is redacted. */
export function cancelWorkflowRun(input: unknown, host: WatchedRunHost): Promise<RunView> {
  return cancelRun(workflowRuns, input, host);
}

/** One run and a page of its events, redacted like the run alone. */
export function listWorkflowRunEvents(input: unknown, host: WatchedRunHost): Promise<EventsView> {
  return listRunEvents(workflowRuns, input, host);
}
