// Runs the effect of a thread that is due: between runs, or while a run waits for somebody, but never beside one.
import { CommitConflict, LeaseLost } from "../../engine/retry-commit.ts";
import { Batch } from "../batch.ts";
import { isWork, staysStopped } from "../entries.ts";
import type { HeldThread } from "../held-thread.ts";
import type { Host } from "../host.ts";
import type { ThreadRun } from "../thread-run.ts";
import { beginEffect, type EffectStep, performEffect } from "./run-effect.ts";

/**
 * Throws `CommitConflict` when one has run: the thread is read again with what it has left behind. `parked`: the run that
 * waits, if one does.
 */
export async function runDueEffect(host: Host, held: HeldThread, parked: ThreadRun | null): Promise<void> {
  if (held.isTerminated || !held.loaded.has_due_effect) return;
  const effect = await host.stores.state.dueEffect(held.id);
  if (!effect || (!parked && isWorkFirst(held, effect.scheduled_at))) return;
  await store(beginEffect(effect));
  const { onCrashPoint } = host;
  await onCrashPoint("before effect handler");
  const done = await unlessGivenUp(held, performEffect(host, { thread: held.thread, effect, cut: held.effectCut }));
  await onCrashPoint("after effect handler");
  await store(done);
  throw new CommitConflict("An effect has run.");

  async function store(step: EffectStep): Promise<void> {
    const batch = new Batch({ ...held.from, seqs: [...held.seqs], outer: [...held.outer] });
    batch.leave(step);
    await held.commit(batch, parked?.working ?? null, held.thread.status);
  }
}

/** Effects and what runs take in come in the order of their times: neither keeps the other waiting for ever. */
function isWorkFirst({ entries, stoppedAt }: HeldThread, scheduledAt: number): boolean {
  if (staysStopped(entries, stoppedAt)) return false;
  const first = entries.find(isWork);
  return first?.created_at !== undefined && first.created_at < scheduledAt;
}

/** Whoever lets go of the thread does not wait for a handler that may never come back: it runs again where it is taken up. */
async function unlessGivenUp<Value>({ id, givenUp }: HeldThread, work: Promise<Value>): Promise<Value> {
  const lost = Promise.withResolvers<never>();
  const lose = () => lost.reject(new LeaseLost(`Thread ${id} is given up here.`));
  givenUp.addEventListener("abort", lose, { once: true });
  if (givenUp.aborted) lose();
  try {
    return await Promise.race([work, lost.promise]);
  } finally {
    givenUp.removeEventListener("abort", lose);
  }
}
