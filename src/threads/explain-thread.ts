// Why a thread does not go on, from what is known of it: one sentence, and the command that does something about it. Pure.
import type { EngineView } from "../backend/engine.ts";
import type { StoredRequest } from "../backend/request-store.ts";
import type { Thread } from "../backend/thread-rows.ts";
import { isMap } from "../contracts/json.ts";
import { asSentence, onOneLine, timeText } from "./explaining-words.ts";
import type { RunOutcome } from "./outcome.ts";
import type { Switch } from "./switches.ts";

export type Cause =
  | "terminated"
  | "stuck"
  | "running"
  | "holder_gone"
  | "agent_unknown"
  | "agent_switched_off"
  | "state_too_new"
  | "no_worker"
  | "due"
  | "approval"
  | "client_tool"
  | "subagent"
  | "model_retry"
  | "timer"
  | "stopped"
  | "variables_missing"
  | "budget_exhausted"
  | "run_ended_early"
  | "never_run"
  | "at_rest";

/** `command`: what to type; null where nothing has to be done, or where no command helps. */
export type Explanation = { readonly cause: Cause; readonly sentence: string; readonly command: string | null };

export type Facts = {
  readonly thread: Thread;
  readonly view: EngineView;
  /** What went wrong last, in words. */
  readonly lastError: string | null;
  /** What its call waits for. */
  readonly request: StoredRequest | undefined;
  /** The live child that is to answer it. */
  readonly childId: string | undefined;
  /** What children need that could not be created yet. */
  readonly variables: readonly StoredRequest[];
  /** How often the model was put off that is to be asked next. */
  readonly postponed: { readonly times: number } | null;
  readonly outcome: RunOutcome | undefined;
  readonly isAgentKnown: boolean;
  readonly agentOff: Switch | undefined;
  readonly stateVersion: number;
};

export function explainThread(facts: Facts): Explanation {
  return ofEngine(facts) ?? ofWaiting(facts) ?? ofRest(facts);
}

/** What keeps it from being taken, or who has taken it. */
function ofEngine({ thread, view, lastError, ...facts }: Facts): Explanation | undefined {
  const { id, agent, terminated_at } = thread;
  const { now, due_at, lease_by, lease_until, stuck_at, state_version } = view;
  if (terminated_at !== null) {
    return told(
      "terminated",
      `Thread ${id} was ended for good at ${timeText(terminated_at)} and takes no more work.`,
      null,
    );
  }
  if (stuck_at !== null) {
    const why = lastError === null ? "whoever ran it died each time" : `the last error was: ${onOneLine(lastError)}`;
    const sentence = `Thread ${id} is stuck since ${timeText(stuck_at)}: it was begun three times without getting on, and ${why}`;
    return told("stuck", asSentence(sentence), `holdfast threads retry ${id}`);
  }
  if (lease_by !== null && lease_until > now) {
    const until = `until ${timeText(lease_until)}`;
    if (view.is_holder_known) {
      return told(
        "running",
        `Thread ${id} is being run by ${lease_by}, which holds it ${until}.`,
        `holdfast threads tail ${id}`,
      );
    }
    const sentence = `Thread ${id} is held ${until} by ${lease_by}, which nobody knows any more; then another takes over.`;
    return told("holder_gone", sentence, null);
  }
  if (due_at === null || due_at > now) return undefined;
  const since = `is due since ${timeText(due_at)}`;
  if (!facts.isAgentKnown) {
    const sentence = `Thread ${id} ${since}, and nobody here knows its agent "${agent}": start a process that defines it.`;
    return told("agent_unknown", sentence, "holdfast agents list");
  }
  if (state_version > facts.stateVersion) {
    const sentence = `Thread ${id} ${since}, and was written by a newer version of Holdfast than this: start that one.`;
    return told("state_too_new", sentence, null);
  }
  if (facts.agentOff) return switchedOff(`Thread ${id} ${since}, and its agent`, facts.agentOff);
  if (view.workers === 0)
    return told("no_worker", `Thread ${id} ${since}, and no process runs threads.`, "holdfast serve");
  return told("due", `Thread ${id} ${since} and is taken when a worker has room for it.`, null);
}

/** What was switched off, by whom and why, and how it is switched on. */
export function switchedOff(what: string, { kind, name, set_at, set_by, reason }: Switch): Explanation {
  const by = set_by === "" ? "" : ` by ${set_by}`;
  const why = reason === "" ? "" : `: ${onOneLine(reason)}`;
  const sentence = asSentence(`${what} "${name}" was switched off at ${timeText(set_at)}${by}${why}`);
  return told("agent_switched_off", sentence, `holdfast switches on ${kind} ${name}`);
}

/** Whom or what it waits for. */
function ofWaiting({ thread, view, request, childId, postponed }: Facts): Explanation | undefined {
  const { id } = thread;
  if (request?.status === "pending") {
    const since = `since ${timeText(request.created_at)}`;
    const until = request.expires_at === null ? "" : ` and until ${timeText(request.expires_at)}`;
    const tool = `"${request.tool_name}"`;
    if (request.kind === "approval") {
      const sentence = `Thread ${id} waits ${since}${until} for somebody to approve ${tool}, request ${request.id}.`;
      return told("approval", sentence, `holdfast approvals accept ${request.id}`);
    }
    if (request.kind === "client_tool") {
      const sentence = `Thread ${id} waits ${since}${until} for the result of the client tool ${tool}, request ${request.id}.`;
      return told("client_tool", sentence, `holdfast requests submit ${request.id} --result '{}'`);
    }
    const whom = childId === undefined ? "" : `, thread ${childId}`;
    const sentence = `Thread ${id} waits ${since} for its subagent${whom}.`;
    return told("subagent", sentence, childId === undefined ? null : `holdfast doctor ${childId}`);
  }
  if (view.due_at === null) return undefined;
  const until = timeText(view.due_at);
  if (postponed) {
    const sentence = `Thread ${id} waits until ${until} to ask its model again, which failed ${postponed.times + 1} times.`;
    return told("model_retry", sentence, null);
  }
  return told("timer", `Thread ${id} waits for a timer until ${until}.`, null);
}

/** Why there is nothing to do for it. */
function ofRest({ thread, view, variables, outcome }: Facts): Explanation {
  const { id } = thread;
  const send = `holdfast threads send ${id} "…"`;
  if (thread.status === "stopped") {
    const queued = view.waiting > 0 ? `, and keeps ${view.waiting} queued` : "";
    const sentence = `Thread ${id} was stopped${queued}: it goes on when a user writes or somebody continues it.`;
    return told("stopped", sentence, `holdfast threads continue ${id}`);
  }
  const [first] = variables;
  if (first) {
    const { registry_agent_name, missing } = JSON.parse(first.shown) as {
      registry_agent_name: string;
      missing: string[];
    };
    const names = missing.join(", ");
    const sentence = `Thread ${id} could not create its subagent "${registry_agent_name}", which needs the variables ${names}.`;
    const input = JSON.stringify({ parent_thread_id: id, request_id: first.id, env: {} });
    return told("variables_missing", sentence, `holdfast abilities run holdfast/submit-variables '${input}'`);
  }
  if (!outcome) return told("never_run", `Thread ${id} rests, because nobody has sent it anything yet.`, send);
  if (SPENT.has(outcome.status)) {
    const what = outcome.budget ?? thread.budget;
    const which = what === null ? "" : ` (${what})`;
    const sentence = `Thread ${id} rests, because its last run came to a limit: ${outcome.status}${which}.`;
    return told("budget_exhausted", sentence, `holdfast threads continue ${id}`);
  }
  if (!outcome.completed) {
    const why = reasonOf(outcome);
    const sentence = `Thread ${id} rests, because its last run ended with ${outcome.status}${why}`;
    return told("run_ended_early", asSentence(sentence), `holdfast threads continue ${id}`);
  }
  return told("at_rest", `Thread ${id} rests, because its last run is complete and nothing is queued.`, send);
}

const SPENT: ReadonlySet<string> = new Set(["budget_exceeded", "limit_reached", "max_turns"]);

function reasonOf({ failure, stalled, interrupted }: RunOutcome): string {
  const told = failure ?? stalled ?? interrupted;
  const words = isMap(told) ? (told.message ?? told.error ?? told.reason) : undefined;
  return typeof words === "string" && words !== "" ? `: ${onOneLine(words)}` : "";
}

function told(cause: Cause, sentence: string, command: string | null): Explanation {
  return { cause, sentence, command };
}
