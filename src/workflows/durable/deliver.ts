// What a run delivers to the run above it once it has ended. Outputs are no part of it: they are read from the rows of the run, sealed.
import type { Write } from "../../backend/write.ts";
import { stableHash } from "../../contracts/canonical-json.ts";
import type { LeasedRun } from "./leased-run.ts";

export function deliveryTo({ id, thread, state }: LeasedRun): readonly Write[] {
  const { parent_id, child } = thread;
  if (parent_id === null || child === null) return [];
  const { status } = state.machine;
  const success = status === "succeeded";
  const body = success
    ? { success, run_id: id, status }
    : { success, run_id: id, status, error: `The run ${words[status]}.` };
  const answered: Write[] =
    child.request_id === null
      ? []
      : [
          {
            ...{ write: "answer", thread_id: parent_id, request_id: child.request_id },
            ...{ body: JSON.stringify(body), payload_hash: stableHash(body) },
          },
        ];
  return [...answered, { write: "child_status", thread_id: id, status: success ? "idle" : "failed" }];
}

const words = { running: "goes on", succeeded: "succeeded", failed: "failed", cancelled: "was cancelled" } as const;
