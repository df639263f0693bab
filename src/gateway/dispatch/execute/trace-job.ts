// One trace per job tree: every job of a tree is a span below the same root, whichever process runs it.
import { createHash } from "node:crypto";
import { ROOT_CONTEXT, TraceFlags, trace } from "@opentelemetry/api";
import { isTraced, startSpan } from "../../../threads/telemetry/guarded-span.ts";
import type { Opened } from "./opened-job.ts";

/** Runs the work within a span of the job. `outcome` tells what came of it. */
export async function traceJob<Result>(
  { job }: Opened,
  work: () => Promise<Result>,
  outcome: (result: Result) => { readonly status: string; readonly reason: string | null } | undefined,
): Promise<Result> {
  if (!isTraced()) return await work();
  const span = startSpan({
    name: `job ${job.plugin}.${job.command}`,
    attributes: {
      "holdfast.job.id": job.id,
      "holdfast.job.root_id": job.root_job_id,
      "holdfast.job.plugin": job.plugin,
      "holdfast.job.command": job.command,
      "holdfast.attempt": job.attempt,
      ...(job.place && { "holdfast.job.pipeline": job.place.pipeline, "holdfast.job.step": job.place.step_id }),
    },
    parent: trace.setSpanContext(ROOT_CONTEXT, {
      traceId: hex(job.root_job_id, "trace", 32),
      spanId: hex(job.root_job_id, "span", 16),
      traceFlags: TraceFlags.SAMPLED,
      isRemote: true,
    }),
  });
  if (!span) return await work();
  try {
    const result = await span.within(work);
    const ended = outcome(result);
    const failed = ended !== undefined && ended.status !== "succeeded" ? (ended.reason ?? ended.status) : undefined;
    span.end({ ...(ended && { "holdfast.outcome": ended.status }) }, failed);
    return result;
  } catch (thrown) {
    span.end({}, "_OTHER");
    throw thrown;
  }
}

/** Ids that follow from the root job, so that all processes use the same. */
function hex(rootJobId: string, of: "trace" | "span", length: number): string {
  return createHash("sha256").update(`${of} ${rootJobId}`).digest("hex").slice(0, length);
}
