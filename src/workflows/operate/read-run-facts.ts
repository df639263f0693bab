// What is known of a run that explains how it stands, read from its rows.
import type { StoredRequest } from "../../backend/request-store.ts";
import { isName } from "../../contracts/storable-name.ts";
import { comparePaths } from "../durable/path-order.ts";
import { runNotFound } from "../durable/run-errors.ts";
import type { RunHost } from "../durable/run-host.ts";
import { RUN_STATE_VERSION, type RunState, readRunState } from "../durable/run-state.ts";
import { openRun, type ReadRun } from "../durable/run-view.ts";
import { reasonOf } from "../durable/standing.ts";
import { bodyOf } from "../machine/working.ts";
import type { OpenWait, RunFacts } from "./explain-run.ts";
import { stepName } from "./step-name.ts";

/** More than the steps of a run that can be open at once. */
const MOST_REQUESTS = 200;

/** Throws `workflow_run_not_found`. */
export async function readRunFacts(host: RunHost, id: string): Promise<RunFacts> {
  const { stores, sealing } = host.threads;
  const [view, loaded, read] = isName(id)
    ? await Promise.all([stores.engine.view(id), stores.threads.load(id), openRun(host, id)])
    : [];
  if (!view || !loaded || !read) throw runNotFound(id);
  const pending = await stores.requests.list({ thread_id: id, status: "pending", limit: MOST_REQUESTS });
  const state = readRunState(loaded.state);
  return {
    ...{ run: read.stored, view, terminatedAt: loaded.thread.terminated_at },
    lastError: view.last_error === null ? null : sealing.open(view.last_error, id),
    ...{ isPaused: state.isPaused, isRolledBack: state.machine.isRolledBack, failure: failureOf(state, read) },
    ...{ waits: waitsOf(state, read, pending), stateVersion: RUN_STATE_VERSION },
  };
}

function failureOf({ machine }: RunState, { stored, body, working }: ReadRun): RunFacts["failure"] {
  if (stored.status !== "failed") return null;
  const { error } = bodyOf(working, machine.failed ?? "");
  const code = error?.code ?? bodyOf(working, "").error?.code ?? body.refused?.code;
  return {
    code: typeof code === "string" && code !== "" ? code : "an error",
    step: machine.failed === null ? null : stepName(working, machine.failed),
  };
}

function waitsOf({ machine, open }: RunState, { working }: ReadRun, pending: readonly StoredRequest[]): OpenWait[] {
  const waiting = Object.entries(machine.steps).filter(
    ([path, { phase }]) => phase !== "running" || (open[path] !== undefined && open[path].by !== "process"),
  );
  return waiting
    .sort(([one], [other]) => comparePaths(one, other))
    .map(([path, step]) => {
      const { request_id, child_id, until = null } = open[path] ?? {};
      const { event } = bodyOf(working, path).suspend ?? {};
      return {
        ...{ step: stepName(working, path), reason: reasonOf(step, open[path]), childId: child_id },
        request: pending.find(({ id }) => id === request_id),
        event: typeof event === "string" ? event : undefined,
        until: until ?? step.until,
      };
    });
}
