// What keeps threads from going on: read from the database, explained in a sentence each.
import type { StoredRequest } from "../backend/request-store.ts";
import type { Thread } from "../backend/thread-rows.ts";
import { comparePlaces } from "../contracts/list-place.ts";
import { isName } from "../contracts/storable-name.ts";
import type { State } from "../loop/state.ts";
import { type Cause, type Explanation, explainThread, switchedOff } from "./explain-thread.ts";
import type { Host } from "./host.ts";
import type { RunOutcome } from "./outcome.ts";
import { STATE_VERSION } from "./state-version.ts";
import { threadNotFound } from "./thread-errors.ts";

export type Diagnosis = Explanation & { readonly thread_id: string; readonly status: Thread["status"] };

export type GatewayCause = "gateway_paused" | "gateway_jobs_dead" | "gateway_circuit_open" | "gateway_job_due";

/** Of steps of runs. */
export type StepCause = "rollback_failed" | "step_outcome_unknown";

/** `thread_id` is null for what concerns no single thread; `run_id` is there for what concerns a run of a workflow. */
export type Finding = {
  readonly thread_id: string | null;
  readonly run_id?: string;
  readonly cause: Cause | GatewayCause | `run_${string}` | StepCause | "unknown_calls" | "switched_off";
  readonly sentence: string;
  readonly command: string | null;
};

/** `healthy`: nothing is amiss. What waits for an answer is found too, and is what waiting is for. */
export type Findings = { readonly healthy: boolean; readonly findings: readonly Finding[] };

/** Why a thread does not go on. Throws `thread_not_found`. */
export async function diagnoseThread(host: Host, id: string): Promise<Diagnosis> {
  const { threads, engine, requests } = host.stores;
  const [thread, view] = isName(id) ? await Promise.all([threads.get(id), engine.view(id)]) : [];
  if (!thread || !view) throw threadNotFound(id);
  const [text, pending, run] = await Promise.all([
    threads.state(id),
    requests.list({ thread_id: id, status: "pending", limit: MOST_LISTED }),
    threads.run(id, thread.run),
    host.switches.refresh(),
  ]);
  const state = text === null ? null : (JSON.parse(text) as State);
  const waitsFor = state?.waiting?.request_id;
  const request = pending.find((each) => each.id === waitsFor);
  const explanation = explainThread({
    ...{ thread, view, request },
    lastError: view.last_error === null ? null : host.sealing.open(view.last_error, id),
    childId: await childFor(host, id, request),
    variables: pending.filter(({ kind }) => kind === "variables"),
    postponed: state?.postponed ?? null,
    outcome: run?.outcome == null ? undefined : (JSON.parse(run.outcome) as RunOutcome),
    isAgentKnown: host.agents.has(thread.agent),
    agentOff: host.switches.find("agent", thread.agent),
    stateVersion: STATE_VERSION,
  });
  return { thread_id: id, status: thread.status, ...explanation };
}

/** The child that is to answer the request. */
async function childFor({ stores }: Host, id: string, request: StoredRequest | undefined): Promise<string | undefined> {
  if (request?.kind !== "child") return undefined;
  const children = await stores.threads.children(id, { live: true, limit: MOST_LISTED });
  return children.find(({ child }) => child?.request_id === request.id)?.id;
}

const MOST_LISTED = 100;

/** As many threads of each kind are looked at. */
const MOST_FINDINGS = 20;

/** What is due is usually taken within a second. */
const OVERDUE_US = 10_000_000;

/**
 * What somebody should look at: threads that are stuck or overdue, calls of unknown outcome, what is switched off, and those
 * who wait the longest for somebody's answer.
 */
export async function diagnose(host: Host): Promise<Findings> {
  const { threads, metrics } = host.stores;
  const [stuck, overdue, { unknown_calls }, switches] = await Promise.all([
    threads.list({ status: "stuck", limit: MOST_FINDINGS }),
    metrics.overdue({ for_us: OVERDUE_US, limit: MOST_FINDINGS }),
    metrics.read(),
    host.switches.list(),
  ]);
  const findings: Finding[] = [];
  const find = async (id: string) => {
    const { thread_id, cause, sentence, command } = await diagnoseThread(host, id);
    findings.push({ thread_id, cause, sentence, command });
  };
  for (const id of [...stuck.map((thread) => thread.id), ...overdue]) await find(id);
  if (unknown_calls > 0) {
    const calls = unknown_calls === 1 ? "One call has" : `${unknown_calls} calls have`;
    const sentence = `${calls} an unknown outcome: look up what was done, and settle it.`;
    const command = "holdfast calls unknown";
    findings.push({ thread_id: null, cause: "unknown_calls", sentence, command });
  }
  for (const each of switches) {
    if (!each.off) continue;
    const { sentence, command } = switchedOff(each.kind === "tool" ? "The tool" : "The agent", each);
    findings.push({ thread_id: null, cause: "switched_off", sentence, command });
  }
  const healthy = findings.length === 0;
  const told = new Set(findings.map(({ thread_id }) => thread_id));
  for (const id of await waitingForSomebody(host)) if (!told.has(id) && (await threads.get(id))) await find(id);
  return { healthy, findings };
}

/** The threads whose requests were made first. What a child answers waits for no person. */
async function waitingForSomebody({ stores: { requests } }: Host): Promise<readonly string[]> {
  const kinds = ["approval", "client_tool", "variables"] as const;
  const pending = await Promise.all(
    kinds.map((kind) => requests.list({ kind, of: "thread", status: "pending", limit: MOST_FINDINGS })),
  );
  const oldest = pending.flat().sort(comparePlaces);
  return [...new Set(oldest.map(({ thread_id }) => thread_id))].slice(0, MOST_FINDINGS);
}
