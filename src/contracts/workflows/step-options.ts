// What a step of ours may ask for beside its type: to be tried again, to end in time, and to be undone. A step carries any
// other keys as well, and one of these names in another shape asks for nothing.
import { z } from "zod";
import { parseDuration } from "../gateway/durations.ts";
import { isMap, type JsonMap } from "../json.ts";
import type { WorkflowSpec } from "./spec.ts";

const duration = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({ code: "custom", message: "no duration such as 30s or 1h30m" });
  return z.NEVER;
});

const retrySchema = z.strictObject({
  /** Attempts in all, the first included. */
  max_attempts: z.int().min(2).max(100),
  /** How long to wait before the second attempt. */
  backoff: duration.default(1_000),
  /** By how much each wait is longer than the one before. */
  multiplier: z.number().min(1).max(10).default(2),
  max_backoff: duration.default(3_600_000),
});

export type Retry = z.infer<typeof retrySchema>;

/** When a step that failed is tried again; undefined for one that is not. */
export function retryOf({ retry }: JsonMap): Retry | undefined {
  return isMap(retry) ? retrySchema.safeParse(retry).data : undefined;
}

/** Milliseconds after so many attempts until the next one; undefined when there is none. */
export function backoffAfter(
  attempts: number,
  { max_attempts, backoff, multiplier, max_backoff }: Retry,
): number | undefined {
  if (attempts >= max_attempts) return undefined;
  return Math.min(max_backoff, Math.round(backoff * multiplier ** (attempts - 1)));
}

/** Milliseconds that one attempt of a step may take; undefined without a limit. */
export function timeoutOf({ timeout }: JsonMap): number | undefined {
  const milliseconds = parseDuration(timeout);
  return milliseconds === 0 ? undefined : milliseconds;
}

/** The step that undoes a step once that has succeeded; it needs no id. */
export function undoOf({ undo }: JsonMap): JsonMap | undefined {
  return isMap(undo) && typeof undo.type === "string" ? (undo as JsonMap) : undefined;
}

/** The steps that run once after a run has failed. */
export function onFailureOf({ raw }: Pick<WorkflowSpec, "raw">): readonly JsonMap[] {
  const { on_failure } = raw;
  return Array.isArray(on_failure) && on_failure.every(isMap) ? (on_failure as readonly JsonMap[]) : [];
}

/** Whether it does no harm to do a step twice. What the step itself says counts before what is known of its work. */
export function isIdempotent({ idempotent }: JsonMap, isWorkIdempotent = false): boolean {
  return typeof idempotent === "boolean" ? idempotent : isWorkIdempotent;
}
