// Durable runs as run control shows them: the words of the contract for how a run stands and for what happened in it.

import { timeOf } from "../../abilities/shapes.ts";
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";
import { scalarText, wholeNumber } from "../../contracts/coerce.ts";
import { normalizeRun, type Run, type RunEvents, type RunStatus } from "../../contracts/conversation/run-control.ts";
import type { WatchedRunStore } from "../../contracts/conversation/watched-runs.ts";
import { HoldfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { RunHandle } from "../../workflows/durable/run-handle.ts";
import type { WorkflowDeps } from "../../workflows/operations/deps.ts";
import { shownEvent } from "../../workflows/operations/events.ts";

const USUAL_EVENTS = 100;
const MOST_EVENTS = 500;
const POSITION = /^\d{1,15}\.\d{1,9}$/;

/** The runs within the reach of a caller; others are not there. */
export function watchedRuns({ runFor }: WorkflowDeps, principal: Principal): WatchedRunStore {
  async function find(id: string): Promise<RunHandle | undefined> {
    try {
      return await runFor(id, principal, "read");
    } catch (thrown) {
      if (thrown instanceof HoldfastError && thrown.code === "workflow_run_not_found") return undefined;
      throw thrown;
    }
  }

  return {
    async get(id) {
      const run = await find(id);
      return run && (await shown(run));
    },
    async cancel(id) {
      const run = await find(id);
      if (!run) return undefined;
      const cancelled = await run.requestCancel();
      return normalizeRun({ ...(await shown(run)), ...(cancelled && { status: "cancelling" }), cancelled });
    },
    async events(id, page) {
      const run = await find(id);
      return run && (await eventsOf(run, page));
    },
  };
}

async function shown(run: RunHandle): Promise<Run> {
  const [stored, { metadata }] = await Promise.all([run.summary(), run.record()]);
  const { run_id, workflow_id, created_at, started_at, ended_at } = stored;
  return normalizeRun({
    ...{ run_id, workflow_id, metadata, status: statusOf(stored) },
    started_at: timeOf(started_at ?? created_at),
    updated_at: timeOf(ended_at ?? started_at ?? created_at),
  });
}

/** Run control has no word for a run that waits, but for whom it waits for. */
function statusOf({ status, reason }: StoredWorkflowRun): RunStatus {
  if (status === "pending") return "queued";
  if (status !== "suspended") return status;
  if (reason === "waiting_for_approval") return "approval_required";
  return reason === "waiting_for_request" ? "runtime_tool_pending" : "running";
}

async function eventsOf(run: RunHandle, page: JsonMap): Promise<RunEvents> {
  const cursor = scalarText(page.cursor) ?? "";
  const limit = Math.min(wholeNumber(page.limit, 1) ?? USUAL_EVENTS, MOST_EVENTS);
  const found = await run.events({ limit: limit + 1, ...(POSITION.test(cursor) && { after: cursor }) });
  const events = found.slice(0, limit);
  const has_more = found.length > limit;
  return {
    ...(await shown(run)),
    events: events.map((event) => {
      const { id, type, at: created_at, ...metadata } = shownEvent(event);
      // The words of durable runs are their own, as those of a host's handler are.
      return { id: `${run.id}:${id}`, type, created_at, metadata } as unknown as RunEvents["events"][number];
    }),
    cursor: has_more ? (events.at(-1)?.id ?? "") : "",
    has_more,
  };
}
