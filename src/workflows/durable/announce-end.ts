// Observers of the host are notified once a run has ended, at most once and after the commit. A cancelled run has no such event.
import type { LeasedRun } from "./leased-run.ts";
import type { RunBatch } from "./run-batch.ts";
import type { RunHost } from "./run-host.ts";
import { readRun } from "./run-view.ts";

export async function announceEnd(host: RunHost, run: LeasedRun, { facts }: RunBatch): Promise<void> {
  const hasEnded = facts.some(({ type }) => type === "run.ended" || type === "run.broken");
  if (!hasEnded || run.state.machine.status === "cancelled" || !host.hooks?.has("workflowRunCompleted")) return;
  try {
    const record = await readRun(host, run.id);
    if (record) host.hooks.emit("workflowRunCompleted", record, run.id);
  } catch (thrown) {
    host.threads.report(thrown, run.id);
  }
}
