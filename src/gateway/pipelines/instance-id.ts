// The name of one activation of a pipeline.
import { sha256 } from "../../contracts/canonical-json.ts";

/**
 * Always the same for an event, the pipeline and the job that emitted the event. The job counts because plugins may
 * choose the ids of their events, and choose one twice.
 */
export function instanceId(eventId: string, pipeline: string, jobId: string | undefined): string {
  return `inst-${sha256(JSON.stringify([eventId, pipeline, jobId ?? null])).slice(0, 32)}`;
}
