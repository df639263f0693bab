// Somebody wants a run to stop: the wish is taken from the inbox, and what was under way is let go.
import * as message from "../contracts/conversation/message.ts";
import type { HoldfastError } from "../contracts/error.ts";
import { LeaseLost } from "../engine/retry-commit.ts";
import type { Arrived, Stop } from "../loop/next.ts";
import type { Batch } from "./batch.ts";
import { stopsIn } from "./entries.ts";
import type { HeldThread } from "./held-thread.ts";
import type { ThreadRun } from "./thread-run.ts";

/** What was under way was let go, because somebody wants it to stop or because the lease is lost. */
export async function cutOff(held: HeldThread, run: ThreadRun, batch: Batch, performed: boolean): Promise<Stop> {
  if (!held.isGivenUp) await held.readInbox();
  const stop = held.isGivenUp ? undefined : takeStop(held, batch, performed);
  if (!stop) throw new LeaseLost(`Thread ${held.id} is given up here.`);
  const said = performed && run.said !== "" ? message.text("assistant", run.said, { stopped: true }) : undefined;
  return said ? { ...stop, said } : stop;
}

/** The wish to stop, if there is one; its entries are taken with the batch. */
export function takeStop(held: HeldThread, batch: Batch, performed: boolean): Stop | undefined {
  const stops = stopsIn(held.entries);
  const last = stops.at(-1);
  if (!last) return undefined;
  for (const { seq } of stops) if (!batch.drained.includes(seq)) batch.drained.push(seq);
  held.stoppingAt = last.seq;
  const metadata = { type: "run_stopped", interrupt_action: "cancel", source: "thread", status_kind: "stopped" };
  return { stop: message.text("system", last.body.reason, metadata), performed };
}

/** Ends a run with which nobody can go on. What has arrived for its open call counts; what is behind that is not begun. */
export function endLost(lost: HoldfastError, after: Arrived | undefined): Stop {
  const { code, detail } = lost;
  const metadata = { type: "run_failed", interrupt_action: "cancel", source: "thread", status_kind: "failed", code };
  return {
    stop: message.text("system", detail, metadata),
    performed: true,
    ...(after && ("request_id" in after || "returned" in after || "threw" in after) && { after }),
    failure: { name: code, code, message: detail },
  };
}

/** When a thread that is laid down is to be looked at again: at once if somebody wants it to stop and nobody has seen to it. */
export function unlessStopping({ entries }: HeldThread, { drained }: Batch, after: number | null): number | null {
  if (stopsIn(entries).some(({ seq }) => !drained.includes(seq))) return 0;
  return after === null ? null : Math.max(0, after);
}
