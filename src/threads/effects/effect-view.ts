// How an effect that is stored is shown.
import type { StoredEffect } from "../../backend/state-store.ts";
import type { EffectStatus } from "../../backend/write.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";
import type { Sealing } from "../secrets/sealing.ts";
import type { ScheduledEffect } from "../state/thread-state.ts";

/** With what it was scheduled with: for the thread's own code, and for whoever runs the place. */
export function scheduledEffect(stored: StoredEffect, sealing: Sealing): ScheduledEffect {
  return {
    id: stored.id,
    name: stored.name,
    args: JSON.parse(sealing.open(stored.args, stored.thread_id)) as JsonMap,
    status: stored.status,
    scheduledAt: stored.scheduled_at,
    createdAt: stored.created_at,
    attempts: stored.attempts,
    error: stored.error,
    completedAt: stored.completed_at,
    manualRun: stored.manual_run,
    manualRunAt: stored.manual_run_at,
    replayedFrom: stored.replayed_from,
  };
}

/** What whoever follows the thread is told when an effect stands otherwise than before; never what it was scheduled with. */
export function effectChanged(
  { id, name }: Pick<StoredEffect, "id" | "name">,
  status: EffectStatus,
  error: string | null = null,
): { readonly event: "effect_changed"; readonly data: Json } {
  return { event: "effect_changed", data: { id, name, status, error } };
}
