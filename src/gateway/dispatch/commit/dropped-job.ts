// What the log says of a job that was not queued, because there is one of its identity already.
import type { Child } from "./new-child.ts";

/** `existing`: the job that there is; null where it is the very same one. */
export function droppedJob({ id, dedupe_key }: Pick<Child, "id" | "dedupe_key">, existing: string | null): string {
  if (existing === null) return `job ${id} was not queued: it was queued before`;
  const key = dedupe_key === null ? "" : ` under the key ${JSON.stringify(dedupe_key)}`;
  return `job ${id} was not queued: there is job ${existing} already${key}`;
}
