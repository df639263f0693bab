// What the records of a step mean for the tables that others read: runs, calls, what is queued.
import type { LogRecord } from "../loop/records.ts";
import type { Batch } from "./batch.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";
import { begunCall } from "./in-flight.ts";
import type { InboxOffer } from "./inbox-offer.ts";
import type { ThreadRun } from "./thread-run.ts";

type Accounted = {
  readonly held: HeldThread;
  readonly run: ThreadRun;
  readonly batch: Batch;
  readonly offer: InboxOffer;
};

/** Puts what the records say into the tables that others read. */
export function account(host: Host, { held, run, batch, offer }: Accounted, records: readonly LogRecord[]): void {
  for (const { fact } of records) {
    switch (fact.type) {
      case "flow.started":
        batch.run = { key: fact.key, status: "running", outcome: null, ended: false };
        break;
      case "inbox.drained":
        offer.take(batch, fact);
        break;
      case "model.accepted":
        held.steps++;
        host.liveTexts.end(held.id);
        break;
      case "begun":
        if (fact.effect.kind === "run_tool") batch.calls.push(begunCall(host, held.state, run));
        break;
      case "call.waiting":
        batch.calls.push({ change: "waiting", number: fact.call });
        break;
      case "call.returned":
      case "call.approved":
        batch.run ??= { status: "running", outcome: null, ended: false };
        batch.queued.push(...run.queued);
        run.queued = [];
        break;
      default:
        break;
    }
  }
}
