// Runs of workflows, for tests: everything that a test does not care about has a value.
import type { Claimed } from "../engine.ts";
import type { Stores } from "../stores.ts";
import type { NewThread } from "../thread-store.ts";
import type { NewWorkflowRun } from "../workflow-store.ts";
import type { Write } from "../write.ts";
import { anEntry, aThread, MINUTE } from "./a-commit.ts";
import { WORKER } from "./stores-in-test.ts";

export function aWorkflowRun(run_id: string, parts: Partial<NewWorkflowRun> = {}): NewWorkflowRun {
  return {
    run_id,
    workflow_id: "refunds",
    spec_hash: "hash of the spec",
    body: "sealed body",
    payload_hash: "hash of the inputs",
    rerun_of: null,
    tags: [],
    ...parts,
  };
}

/** A step that begins. */
export function aStep(run_id: string, position: number, parts: Partial<StepWrite> = {}): StepWrite {
  return { write: "workflow_step", run_id, parent: "", position, status: "running", opened: "opened", ...parts };
}

type StepWrite = Extract<Write, { write: "workflow_step" }>;

/** A run that is due, with its row. */
export async function openWorkflow(
  { threads }: Stores,
  parts: Partial<NewWorkflowRun> = {},
  row: Partial<NewThread> = {},
): Promise<string> {
  const { id, ...rest } = aThread({ ...(parts.run_id !== undefined && { id: parts.run_id }), ...row });
  const run = aWorkflowRun(id, parts);
  const opened = { ...rest, id, kind: "workflow", agent: "", tags: run.tags } as const;
  await threads.open(opened, [
    { write: "workflow_run", run },
    { write: "entry", thread_id: id, entry: anEntry({ kind: "born" }) },
  ]);
  return id;
}

/** Takes all runs that are due. */
export async function claimWorkflows({ engine }: Stores): Promise<readonly Claimed[]> {
  const claim = { worker: WORKER, limit: 100, lease_us: MINUTE, except: [], state_version: 1 };
  return await engine.claim({ ...claim, kind: "workflow" });
}

/** A run that the worker holds. */
export async function heldWorkflow(stores: Stores, parts: Partial<NewWorkflowRun> = {}): Promise<Claimed> {
  const id = await openWorkflow(stores, parts);
  const held = (await claimWorkflows(stores)).find((each) => each.id === id);
  if (!held) throw new Error(`The run ${id} could not be taken.`);
  return held;
}
