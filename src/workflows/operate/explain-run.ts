// Why a run of a workflow does not go on, from what is known of it: one sentence, and the command that does something about it.
// Pure. What steps work with and what their errors say stays sealed: names, times and codes are enough.
import type { EngineView } from "../../backend/engine.ts";
import type { StoredRequest } from "../../backend/request-store.ts";
import type { StoredWorkflowRun, WorkflowReason } from "../../backend/workflow-store.ts";
import { asSentence, onOneLine, timeText } from "../../threads/explaining-words.ts";

export type RunCause =
  | "run_succeeded"
  | "run_failed"
  | "run_cancelled"
  | "run_terminated"
  | "run_stuck"
  | "run_leased"
  | "run_holder_gone"
  | "run_state_too_new"
  | "run_no_worker"
  | "run_put_off"
  | "run_due"
  | "run_paused"
  | "run_sleeping"
  | "run_retrying"
  | "run_at_rest"
  | `run_${Extract<WorkflowReason, `waiting_${string}`>}`;

/** `command`: what to type; null where nothing has to be done, or where no command helps. */
export type RunExplanation = { readonly cause: RunCause; readonly sentence: string; readonly command: string | null };

/** A step that is open and that no process is at work on. */
export type OpenWait = {
  /** The id of the step, or its place where it has none. */
  readonly step: string;
  readonly reason: WorkflowReason;
  readonly request?: StoredRequest | undefined;
  readonly childId?: string | undefined;
  /** The name of the event that it waits for. */
  readonly event?: string | undefined;
  /** When it goes on by itself or is given up, in milliseconds since 1970. */
  readonly until: number | null;
};

export type RunFacts = {
  readonly run: StoredWorkflowRun;
  readonly view: EngineView;
  readonly terminatedAt: number | null;
  /** What went wrong since its last commit, in words. */
  readonly lastError: string | null;
  readonly isPaused: boolean;
  readonly isRolledBack: boolean;
  /** The code of the error that the run has failed with, and the step that it came from. */
  readonly failure: { readonly code: string; readonly step: string | null } | null;
  /** In the order of the workflow. */
  readonly waits: readonly OpenWait[];
  /** The newest state that this process can read. */
  readonly stateVersion: number;
};

export function explainRun(facts: RunFacts): RunExplanation {
  return ofEnd(facts) ?? ofEngine(facts) ?? ofWaiting(facts) ?? atRest(facts);
}

function ofEnd({ run, isRolledBack, failure, terminatedAt }: RunFacts): RunExplanation | undefined {
  const { run_id, status, ended_at, parent_id } = run;
  if (ended_at === null) {
    if (terminatedAt === null) return undefined;
    const sentence = `Run ${run_id} was ended for good from outside at ${timeText(terminatedAt)}: it fails once a worker takes it.`;
    return said("run_terminated", sentence, null);
  }
  const at = `at ${timeText(ended_at)}`;
  if (status === "succeeded") return said("run_succeeded", `Run ${run_id} succeeded ${at}.`, null);
  if (status === "cancelled") return said("run_cancelled", `Run ${run_id} was cancelled ${at}.`, null);
  const where = failure?.step == null ? "" : ` at its step "${failure.step}"`;
  const why = failure === null ? "" : ` with ${failure.code}`;
  const sentence = `Run ${run_id} failed ${at}${where}${why}`;
  if (isRolledBack) return said("run_failed", `${sentence}, and what it had done was rolled back.`, null);
  if (parent_id !== null) return said("run_failed", `${sentence}; run ${parent_id} had started it.`, show(parent_id));
  return said("run_failed", `${sentence}: its steps that have not succeeded can be tried again.`, retry(run_id));
}

/** What keeps it from being taken, or who has taken it. */
function ofEngine({ run, view, lastError, stateVersion }: RunFacts): RunExplanation | undefined {
  const { run_id: id } = run;
  const { now, due_at, lease_by, lease_until, stuck_at, state_version } = view;
  if (stuck_at !== null) {
    const why = lastError === null ? "its worker died each time" : `the last error was: ${onOneLine(lastError)}`;
    const since = `Run ${id} is stuck since ${timeText(stuck_at)}`;
    return said("run_stuck", asSentence(`${since}: it was begun three times without a commit, and ${why}`), retry(id));
  }
  if (lease_by !== null && lease_until > now) {
    const until = `until ${timeText(lease_until)}`;
    if (view.is_holder_known) return said("run_leased", `Run ${id} is leased by ${lease_by} ${until}.`, null);
    const sentence = `Run ${id} is leased ${until} by ${lease_by}, which is gone; then another worker takes over.`;
    return said("run_holder_gone", sentence, null);
  }
  if (due_at !== null && lastError !== null) {
    const sentence = asSentence(`Run ${id} could not be carried on: ${onOneLine(lastError)}`);
    return said("run_put_off", `${sentence} It is tried again at ${timeText(Math.max(due_at, now))}.`, null);
  }
  if (due_at === null || due_at > now) return undefined;
  const since = `Run ${id} is due since ${timeText(due_at)}`;
  if (state_version > stateVersion) {
    const sentence = `${since}, and was written by a newer version of Holdfast than this: start that one.`;
    return said("run_state_too_new", sentence, null);
  }
  if (view.workers === 0) return said("run_no_worker", `${since}, and no process carries runs on.`, "holdfast serve");
  return said("run_due", `${since} and is taken when a worker has room for it.`, null);
}

function ofWaiting({ run, isPaused, waits }: RunFacts): RunExplanation | undefined {
  const { run_id: id, reason } = run;
  if (isPaused) {
    const sentence = `Run ${id} is paused: nothing new begins until it is resumed.`;
    return said("run_paused", sentence, `holdfast runs resume ${id}`);
  }
  const wait = waits.find((each) => each.reason === reason) ?? waits[0];
  if (!wait) return undefined;
  const { step, request, childId, event = "", until: limit } = wait;
  const at = `Run ${id} waits at its step "${step}"`;
  const since = request ? ` since ${timeText(request.created_at)}` : "";
  const until = limit === null ? "" : ` until ${timeText(limit * 1_000)}`;
  const goesOn = limit === null ? "" : ` at ${timeText(limit * 1_000)}`;
  switch (wait.reason) {
    case "waiting_for_approval": {
      const asked = request ? `, request ${request.id}` : "";
      const sentence = `${at}${since}${until} for a person to decide${asked}.`;
      return said("run_waiting_for_approval", sentence, request ? `holdfast approvals accept ${request.id}` : null);
    }
    case "waiting_for_request": {
      const asked = request ? `, request ${request.id}` : "";
      const command = request ? `holdfast requests submit ${request.id} --result '{}'` : null;
      return said("run_waiting_for_request", `${at}${since}${until} for a result from outside${asked}.`, command);
    }
    case "waiting_for_event":
      return said("run_waiting_for_event", `${at}${until} for the event "${event}" to be sent to it.`, send(id, event));
    case "waiting_for_agent": {
      const command = childId === undefined ? null : `holdfast doctor ${childId}`;
      const whom = childId === undefined ? "" : `, thread ${childId}`;
      return said("run_waiting_for_agent", `${at}${since}${until} for its agent${whom}.`, command);
    }
    case "waiting_for_workflow": {
      const whom = childId === undefined ? "" : `, run ${childId}`;
      const command = childId === undefined ? null : show(childId);
      return said("run_waiting_for_workflow", `${at}${since}${until} for the workflow below it${whom}.`, command);
    }
    case "retrying":
      return said("run_retrying", `Run ${id} tries its step "${step}" again${goesOn}, because it failed.`, null);
    default:
      return said("run_sleeping", `Run ${id} sleeps at its step "${step}"${until}.`, null);
  }
}

function atRest({ run }: RunFacts): RunExplanation {
  const sentence = `Run ${run.run_id} is ${run.status} and nothing of it is due: it goes on when something is left for it.`;
  return said("run_at_rest", sentence, show(run.run_id));
}

export function show(id: string): string {
  return `holdfast runs show ${id}`;
}

/** The name of an event may be any text: one that a shell would read otherwise is left to the person who types it. */
function send(id: string, event: string): string {
  return `holdfast runs send ${id} ${/^[\w.:/-]+$/.test(event) ? event : "<event>"}`;
}

function retry(id: string): string {
  return `holdfast runs retry ${id}`;
}

function said(cause: RunCause, sentence: string, command: string | null): RunExplanation {
  return { cause, sentence, command };
}
