// The record of a workflow run: read, changed, shown, and waited for.
import type { UnknownMap } from "../../src/contracts/json.ts";
import { awaitRun } from "../../src/contracts/workflows/await-run.ts";
import * as runRecord from "../../src/contracts/workflows/run-record.ts";

export function showRecord({ value, patch }: { value: unknown; patch?: unknown }) {
  const result = runRecord.patch(runRecord.read(value), patch);
  return {
    result,
    suspended: runRecord.isSuspended(result),
    suspension: runRecord.suspensionOf(result),
    envelope: runRecord.envelope(result),
  };
}

export function awaitRow({ rows, run_id, options }: { rows: UnknownMap; run_id: string; options?: unknown }) {
  const find = (runId: string) => (Object.hasOwn(rows, runId) ? runRecord.read(rows[runId]) : undefined);
  return awaitRun(run_id, options, { find });
}
