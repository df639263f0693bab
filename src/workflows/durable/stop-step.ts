// Stops what carries a step out elsewhere.
import type { Write } from "../../backend/write.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { createEntry } from "../../threads/new-entry.ts";
import type { OpenStep } from "./run-state.ts";

/**
 * The thread of an agent is for this step alone, and ends at once, whichever process leases it. A run is asked to stop, because it may have
 * to undo what it did; that changes nothing in one that has ended.
 */
export function stopStep({ child_id: id }: OpenStep, step: JsonMap | undefined): readonly Write[] {
  if (id === undefined) return [];
  const stop = createEntry.stop("The step that it was for is not waited for any longer.");
  if (step?.type === "workflow") return [{ write: "entry", thread_id: id, entry: stop }];
  return [{ write: "terminate", thread_id: id, stop }];
}
