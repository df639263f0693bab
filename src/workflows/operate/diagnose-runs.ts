// What keeps runs of workflows from going on, and what an operator has to look at, in a sentence each.

import { HoldfastError } from "../../contracts/error.ts";
import { comparePlaces } from "../../contracts/list-place.ts";
import type { Finding, Findings } from "../../threads/diagnose.ts";
import { timeText } from "../../threads/explaining-words.ts";
import type { RunHost } from "../durable/run-host.ts";
import { explainRun, show } from "./explain-run.ts";
import { readRunFacts } from "./read-run-facts.ts";
import { problemsOf } from "./run-problems.ts";

/** As many runs of each kind are looked at. */
const MOST_FINDINGS = 20;

/** What is due is usually taken within a second. */
export const OVERDUE_US = 10_000_000;

/** What kept a run from being carried on is looked at again within that time. */
const PUT_OFF_US = 60_000_000;

/** A person who is asked may take a day to answer; then it may be that the question was not seen at all. */
const LONG_WAIT_US = 86_400_000_000;

/** Runs that are stuck, put off, overdue or have a problem; and, which is no fault of theirs, those that have waited long for a person. */
export async function diagnoseRuns(host: RunHost): Promise<Findings> {
  const { workflows } = host.threads.stores;
  const [stuck, putOff, problems, overdue, waiting] = await Promise.all([
    workflows.stuck(MOST_FINDINGS),
    workflows.putOff({ within_us: PUT_OFF_US, limit: MOST_FINDINGS }),
    workflows.problems(MOST_FINDINGS),
    overdueRuns(host),
    waitingLong(host),
  ]);
  const found = [
    ...(await Promise.all(stuck.map((id) => explained(host, id)))),
    // One that was taken meanwhile may be carried on now.
    ...(await Promise.all(putOff.map((id) => explained(host, id))))
      .flat()
      .filter(({ cause }) => cause === "run_put_off"),
    ...(await Promise.all(problems.map((run) => problemsOf(host, run)))),
    overdue.filter(({ run_id }) => run_id === undefined || !putOff.includes(run_id)),
  ].flat();
  const known = new Set(found.map(({ run_id }) => run_id));
  const waits = waiting.filter(({ run_id }) => !known.has(run_id));
  return { healthy: found.length === 0, findings: [...found, ...waits] };
}

async function explained(host: RunHost, id: string): Promise<readonly Finding[]> {
  try {
    const { cause, sentence, command } = explainRun(await readRunFacts(host, id));
    return [{ thread_id: null, run_id: id, cause, sentence, command }];
  } catch (thrown) {
    // It was deleted meanwhile.
    if (thrown instanceof HoldfastError && thrown.code === "workflow_run_not_found") return [];
    throw thrown;
  }
}

/** The run that is due the longest, and how many others are due too long: thousands may have slept until the same minute. */
async function overdueRuns(host: RunHost): Promise<readonly Finding[]> {
  const { workflows } = host.threads.stores;
  const [oldest] = await workflows.overdue({ for_us: OVERDUE_US, limit: 1 });
  if (oldest === undefined) return [];
  const [found, { overdue }] = await Promise.all([explained(host, oldest), workflows.standing({ for_us: OVERDUE_US })]);
  const others = overdue > 1 ? ` ${overdue - 1} more ${overdue === 2 ? "is" : "are"} overdue.` : "";
  return found.map((each) => ({ ...each, sentence: `${each.sentence}${others}` }));
}

async function waitingLong({ threads: { stores } }: RunHost): Promise<readonly Finding[]> {
  const { requests } = stores;
  const asked = { of: "workflow", status: "pending", limit: MOST_FINDINGS } as const;
  const [now, approvals, results] = await Promise.all([
    requests.now(),
    requests.list({ ...asked, kind: "approval" }),
    requests.list({ ...asked, kind: "client_tool" }),
  ]);
  const old = [...approvals, ...results].filter(({ created_at }) => now - created_at > LONG_WAIT_US);
  return old
    .sort(comparePlaces)
    .slice(0, MOST_FINDINGS)
    .map(({ id, thread_id, kind, tool_name, created_at }) => {
      const isApproval = kind === "approval";
      const what = isApproval ? "a person to decide about" : "the result of";
      const sentence = `Run ${thread_id} waits since ${timeText(created_at)} for ${what} "${tool_name}", request ${id}.`;
      const command = isApproval ? `holdfast approvals accept ${id}` : show(thread_id);
      const cause = isApproval ? "run_waiting_for_approval" : "run_waiting_for_request";
      return { thread_id: null, run_id: thread_id, cause, sentence, command };
    });
}
