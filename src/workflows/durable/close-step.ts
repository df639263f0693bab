// What is left of a step once it has ended, or is tried again later: its call in the ledger, its request, its child.
import type { RequestStatus } from "../../backend/request-store.ts";
import { bodyOf } from "../machine/working.ts";
import type { LeasedRun } from "./leased-run.ts";
import type { RunBatch } from "./run-batch.ts";
import type { RunHost } from "./run-host.ts";
import type { OpenStep } from "./run-state.ts";
import { outcomeUnknown, timedOut } from "./step-errors.ts";
import { stopStep } from "./stop-step.ts";

export async function closeStep(
  { threads }: RunHost,
  run: LeasedRun,
  batch: RunBatch,
  path: string,
  open: OpenStep,
): Promise<void> {
  const { status = "failed", error, resolved } = bodyOf(run.working, path);
  if (open.by === "process") {
    // Its call has ended with the attempt before.
    if (open.isRetrying) return;
    // A step that ran out of time may still be at work.
    const isLate = error?.code === timedOut.code && error?.retryable === false;
    const isUnknown = isLate || error?.code === outcomeUnknown.code;
    batch.endCall(open.call, isUnknown ? "unknown" : "settled", { status, ...(error && { code: error.code ?? "" }) });
    if (isUnknown) batch.hasProblem = true;
    return;
  }
  const { request_id: id } = open;
  if (id === undefined || batch.closed.some((closed) => closed.id === id)) return;
  const from = (await threads.stores.requests.get(id))?.status;
  if (from !== "pending" && from !== "answered") return;
  const to: RequestStatus = from === "answered" ? "settled" : isExpired(error?.code) ? "expired" : "cancelled";
  batch.closed.push({ id, from, to });
  // What is not waited for any longer does not go on by itself.
  const isLeft = open.by === "child" && (from === "pending" || status !== "succeeded");
  if (isLeft && !open.isStopping) batch.writes.push(...stopStep(open, resolved));
}

function isExpired(code: unknown): boolean {
  return code === "approval_expired" || code === "workflow_wait_timed_out" || code === "workflow_step_timed_out";
}
