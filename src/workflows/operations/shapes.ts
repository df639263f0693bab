// The shapes that operations on workflows take or answer with.
import { z } from "zod";
import { id, jsonMap, LONGEST_ID, timeOf } from "../../abilities/shapes.ts";
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";

export const runId = id.meta({ description: "The id of a run of a workflow." });

export const workflowId = id.meta({ description: "The id of a workflow." });

export const inputs = jsonMap.meta({ description: "What the workflow takes in." });

export const tags = z.array(z.string().min(1).max(LONGEST_ID)).max(100);

export const runStatus = z.enum(["pending", "running", "suspended", "succeeded", "failed", "cancelled"]);

export const time = z.iso.datetime();

export const timeFilter = z.iso.datetime({ offset: true });

/** How a run stands, without what it works with. */
export const runShape = z.object({
  run_id: z.string(),
  workflow_id: z.string(),
  status: runStatus,
  reason: z
    .enum([
      "paused",
      "sleeping",
      "retrying",
      "waiting_for_event",
      "waiting_for_approval",
      "waiting_for_request",
      "waiting_for_agent",
      "waiting_for_workflow",
    ])
    .nullable()
    .meta({ description: "Why a run is suspended." }),
  tags: z.array(z.string()),
  parent_id: z.string().nullable().meta({ description: "The run that started it as a part of itself." }),
  rerun_of: z.string().nullable().meta({ description: "The run whose steps it has taken over." }),
  has_problem: z.boolean().meta({ description: "A rollback failed, or the outcome of a step is unknown." }),
  created_at: time,
  started_at: time.nullable(),
  ended_at: time.nullable(),
});

export function shownRun(run: StoredWorkflowRun): z.input<typeof runShape> {
  const { run_id, workflow_id, status, reason, parent_id, rerun_of, has_problem, created_at } = run;
  return {
    ...{ run_id, workflow_id, status, reason, tags: [...run.tags], parent_id, rerun_of, has_problem },
    ...{ created_at: timeOf(created_at), started_at: timeOrNull(run.started_at), ended_at: timeOrNull(run.ended_at) },
  };
}

function timeOrNull(microseconds: number | null): string | null {
  return microseconds === null ? null : timeOf(microseconds);
}

/** Milliseconds since 1970, as steps have them. */
export function timeOfStep(milliseconds: number | null | undefined): string | null {
  return milliseconds == null ? null : new Date(milliseconds).toISOString();
}

const container = z.union([jsonMap, z.array(z.json())]);

/** The record of a run as the contract has it. */
export const recordShape = z.object({
  run_id: z.string(),
  workflow_id: z.string(),
  status: z.string(),
  ...{ inputs: container, output: container, steps: container, error: container },
  started_at: z.int().meta({ description: "Seconds since 1970; 0 for what has not begun." }),
  ended_at: z.int(),
  ...{ metadata: container, evidence_refs: container, replay: container },
  artifacts: container,
  logs: container,
});
