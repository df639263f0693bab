// Runs a workflow again from one of its steps on, as a new run: what stands before the step is taken over.
import type { StoredWorkflowRun } from "../../backend/workflow-store.ts";
import type { Write } from "../../backend/write.ts";
import { sha256 } from "../../contracts/canonical-json.ts";
import { holdfastError } from "../../contracts/error.ts";
import { snapshotMap } from "../../contracts/json.ts";
import { checkName } from "../../threads/check-arguments.ts";
import { below, ROOT } from "../machine/path.ts";
import { type Body, newWorking } from "../machine/working.ts";
import { checkInputs } from "./check-inputs.ts";
import { newRun, writeRun } from "./new-run.ts";
import { invalidInputs, runNotFound } from "./run-errors.ts";
import type { RunHost } from "./run-host.ts";
import { readRunState } from "./run-state.ts";
import { openRun } from "./run-view.ts";
import { StoredBodies } from "./stored-bodies.ts";

export type RerunOptions = {
  /** The id of the step that the new run begins with; its first one unless given. */
  readonly from?: string;
  /** The same as the run before had unless given. */
  readonly inputs?: unknown;
  /** The same rerun under the same key is the same run; another one under it throws `workflow_key_taken`. */
  readonly key?: string;
};

/**
 * The id of the new run. It goes on under the spec of the old one and undoes nothing that that one did. Throws
 * `workflow_step_not_found`, also for a step behind one that has not succeeded, and `workflow_inputs_invalid`.
 */
export async function rerun(host: RunHost, old: StoredWorkflowRun, options: RerunOptions): Promise<string> {
  const { threads } = host;
  const { from, inputs, key } = options;
  if (key !== undefined) checkName("key", key);
  const read = await openRun(host, old.run_id);
  if (!read) throw runNotFound(old.run_id);
  const { body } = read;
  const startsAt = from === undefined ? 0 : body.typed.steps.findIndex(({ id }) => id === from);
  const isBehind = body.typed.steps.slice(0, Math.max(0, startsAt)).some((_, at) => !hasSucceeded(read, at));
  if (startsAt === -1 || isBehind) {
    const why = startsAt === -1 ? "it has no such step" : "a step before it has not succeeded";
    throw holdfastError("workflow_step_not_found", `The run "${old.run_id}" cannot go on from "${from}": ${why}.`);
  }
  const { machine } = readRunState(await threads.stores.threads.state(old.run_id));
  const isBefore = (path: string) => Number(path.split("/", 1)[0]) < startsAt;
  if (machine.isRolledBack && [...read.working.undoable].some(isBefore)) {
    const detail = `What the run "${old.run_id}" did before "${from}" was undone.`;
    throw holdfastError("workflow_run_rolled_back", detail);
  }
  const known = host.workflows.find(body.typed.id) ?? { spec: body.typed, source: "spec", functions: {} };
  const given = inputs === undefined ? body.inputs : snapshotMap(inputs);
  const checked = await checkInputs({ ...known, spec: body.typed }, given);
  if (checked.refused) throw invalidInputs(checked.refused);
  const made = newRun(host, {
    ...{ workflow: body.typed, inputs: checked.inputs, notes: body.notes, tags: old.tags },
    key: key === undefined ? null : sha256(`${old.run_id}\n${from ?? ""}\n${key}`),
    ...{ continueOnError: body.continue_on_error, rerun: { of: old.run_id, startsAt } },
    subject: (await threads.stores.subjects.get(old.run_id)) ?? null,
    user_id: (await threads.stores.threads.load(old.run_id))?.thread.user_id ?? null,
  });
  const taken = copied(host, made.id, read, startsAt);
  return (await writeRun(host, made, taken)).id;
}

type Read = NonNullable<Awaited<ReturnType<typeof openRun>>>;

function hasSucceeded({ working }: Read, at: number): boolean {
  return working.bodies.get(below(ROOT, at))?.status === "succeeded";
}

/** The rows of the steps before the first one, sealed for the new run. What they did is for the old run to undo. */
function copied(host: RunHost, id: string, { working, paths }: Read, startsAt: number): readonly Write[] {
  const rows = new StoredBodies(host.threads.sealing, id);
  const bodies = new Map<string, Body>();
  const own = newWorking({ ...working, bodies, undoable: [] });
  const before = paths.filter((path) => path !== ROOT && Number(path.split("/", 1)[0]) < startsAt);
  for (const path of before) {
    const body = working.bodies.get(path);
    if (body) bodies.set(path, body);
  }
  return before.map((path) => {
    const { write } = rows.written(path, own);
    return write.write === "workflow_step" ? { ...write, undo_order: null } : write;
  });
}
