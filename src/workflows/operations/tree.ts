// How far a run is, as doors show it.
import { z } from "zod";
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";
import type { PartNode, RunTree, StepNode } from "../durable/run-tree.ts";
import { runShape, shownRun, time, timeOfStep } from "./shapes.ts";

const partStatus = z.enum(["pending", "running", "succeeded", "failed", "cancelled"]);
const count = z.int();

const stepShape = z.object({
  path: z.string().meta({ description: "Where it stands in the run, by positions." }),
  id: z.string(),
  type: z.string(),
  status: z.enum([...partStatus.options, "waiting", "retrying", "skipped"]),
  attempt: z.int().nullable(),
  waits_for: z.enum(["agent", "workflow", "event", "approval", "request"]).nullable(),
  event: z.string().nullable().meta({ description: "The name of the event that it waits for." }),
  until: time.nullable().meta({ description: "When it goes on by itself, or waits no longer." }),
  request_id: z.string().nullable().meta({ description: "The request that has to be answered." }),
  child_id: z.string().nullable().meta({ description: "The thread or the run that carries it out, or did." }),
  started_at: time.nullable(),
  ended_at: time.nullable(),
  error_code: z.string().nullable(),
  parts: z
    .object({ total: count, pending: count, running: count, succeeded: count, failed: count, cancelled: count })
    .nullable()
    .meta({ description: "How many branches or items it has, and how they stand." }),
  get branches() {
    return z.array(branchShape);
  },
});

const branchShape = z.object({
  position: z.int(),
  name: z.string().meta({ description: "The role of a branch, the case that was chosen, or the number of an item." }),
  status: partStatus,
  get steps() {
    return z.array(stepShape);
  },
});

export const treeShape = z.object({
  run: runShape,
  steps: z.array(stepShape),
  rollback: z.array(stepShape).meta({ description: "What undoes steps, under the ids of these." }),
  on_failure: z.array(stepShape),
  children: z.array(runShape).meta({ description: "The runs that it has started as parts of itself, newest first." }),
});

export type ShownTree = z.input<typeof treeShape>;

/** `isWhole`: for those who may see what the run works with, and the names that were made of it. */
export function shownTree(
  { stored, steps, rollback, on_failure }: RunTree,
  children: readonly StoredWorkflowRun[],
  isWhole: boolean,
): ShownTree {
  const shownStep = ({
    event,
    started_at,
    ended_at,
    until,
    waits_for = null,
    parts,
    ...node
  }: StepNode): ShownStep => ({
    ...node,
    ...{ waits_for, event: isWhole ? event : null, until: timeOfStep(until) },
    ...{ started_at: timeOfStep(started_at), ended_at: timeOfStep(ended_at) },
    ...{ parts: parts && { ...parts }, branches: node.branches.map(shownBranch) },
  });
  const shownBranch = ({ steps: inside, ...part }: PartNode) => ({ ...part, steps: inside.map(shownStep) });
  return {
    run: shownRun(stored),
    ...{ steps: steps.map(shownStep), rollback: rollback.map(shownStep), on_failure: on_failure.map(shownStep) },
    children: children.map(shownRun),
  };
}

type ShownStep = z.input<typeof stepShape>;
