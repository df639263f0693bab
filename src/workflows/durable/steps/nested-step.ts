// A step that runs another workflow: a run below this one, created in the commit in which the step begins.
import { trimmed } from "../../../contracts/coerce.ts";
import { type JsonMap, snapshotMap } from "../../../contracts/json.ts";
import { DEEPEST } from "../../../threads/subagents/child-order.ts";
import type { Outcome } from "../../machine/next.ts";
import { newRequest } from "../asked-request.ts";
import { checkInputs } from "../check-inputs.ts";
import { newRun } from "../new-run.ts";
import type { RunHost } from "../run-host.ts";
import { readRun } from "../run-view.ts";
import { tooDeep, unknownWorkflow } from "../step-errors.ts";
import { type Beginning, type Begun, deadlineOf } from "./beginning.ts";

export async function beginNested({ host, run, batch, order, call }: Beginning): Promise<Begun> {
  const { threads } = host;
  const { step } = order;
  const id = trimmed(step.workflow) ?? "";
  const known = host.workflows.find(id);
  if (!known) return { outcome: { as: "failed", error: unknownWorkflow(step.workflow) } };
  const above = run.thread.parent_id === null ? 0 : (await threads.stores.threads.ancestors(run.id)).length;
  const depth = (run.body.depth ?? 0) + 1;
  if (Math.max(above + 1, depth) >= DEEPEST) return { outcome: { as: "failed", error: tooDeep } };
  const { inputs, refused } = await checkInputs(known, snapshotMap(step.inputs));
  const isDetached = step.detached === true;
  const requestId = isDetached ? null : crypto.randomUUID();
  const made = newRun(host, {
    ...{ workflow: known.spec, inputs, notes: {}, continueOnError: false, tags: run.thread.tags, key: null },
    ...(refused && { refused }),
    depth,
    parent: { id: run.id, user_id: run.thread.user_id, requestId, name: String(step.id ?? id), isDetached },
    subject: run.subject,
  });
  batch.writes.push(...made.writes);
  if (requestId === null) return { outcome: { as: "succeeded", output: { run_id: made.id } } };
  batch.opened.push(
    newRequest(threads, {
      ...{ id: requestId, call, kind: "child", name: id, parameters: { run_id: made.id }, expiresAfter: null },
      shown: { workflow: id, run_id: made.id, step: String(step.id ?? "") },
    }),
  );
  return {
    open: {
      by: "child",
      waits_for: "workflow",
      request_id: requestId,
      child_id: made.id,
      ...deadlineOf(order, threads.now()),
    },
  };
}

/** What the run came to. Its output is read from its own rows: an answer is no place for what must stay sealed. */
export async function outcomeOfNested(host: RunHost, runId: string, answer: JsonMap): Promise<Outcome> {
  const record = await readRun(host, runId);
  if (record?.status === "succeeded") {
    return { as: "succeeded", output: { run_id: runId, ...snapshotMap(record.output) } };
  }
  const { code, message } = snapshotMap(record?.error);
  return {
    as: "failed",
    error: {
      code: typeof code === "string" && code !== "" ? code : "workflow_run_failed",
      message: typeof message === "string" ? message : String(answer.error ?? "The run did not succeed."),
      data: { run_id: runId, status: record?.status ?? "failed" },
      ...(record?.status === "cancelled" && { retryable: false }),
    },
  };
}
