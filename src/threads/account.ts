// What the records of a step mean for the tables that others read: runs, calls, logs, what is left behind.
import type { LogRecord } from "../loop/records.ts";
import { contextUsage } from "./asking/context-usage.ts";
import type { Batch } from "./batch.ts";
import { begunCall } from "./calls/in-flight.ts";
import { nothingLeft, shownLeft } from "./calls/left-behind.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";
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
    run.trace?.hear(fact);
    switch (fact.type) {
      case "flow.started":
        batch.run = { key: fact.key, status: "running", outcome: null, ended: false };
        break;
      case "inbox.drained":
        offer.take(batch, fact);
        leave(run, batch);
        break;
      case "model.responded":
        batch.writes.push(...contextUsage(run, held, host.now()));
        note(run, batch, "model_call");
        leave(run, batch);
        break;
      case "model.failed":
      case "effect.postponed":
        note(run, batch, "model_failed");
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
        leave(run, batch);
        break;
      case "handed.off":
        held.agent = fact.agent;
        batch.writes.push({ write: "agent", thread_id: held.id, agent: fact.agent });
        break;
      default:
        break;
    }
  }
}

/** What code left behind goes into the commit that says what the code came to. */
function leave(run: ThreadRun, batch: Batch): void {
  const left = shownLeft(run.left, run.secrets);
  const { control, entries } = left;
  // Code that ends the run does not want to run what it has queued before.
  const isEnd = control.stop === true || control.session !== undefined;
  batch.leave(isEnd ? { ...left, entries: entries.filter(({ kind }) => kind !== "tool") } : left);
  run.left = nothingLeft;
}

/** What is known of an attempt at a model beside the records, for its log. */
function note(run: ThreadRun, batch: Batch, type: "model_call" | "model_failed"): void {
  if (run.attempted) batch.notes.push({ type, metadata: { ...run.attempted } });
  run.attempted = null;
}
