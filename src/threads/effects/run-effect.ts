// What an effect that is due comes to. That it begins is committed before its handler runs, and what the handler writes
// is committed with the effect's end: a crash in between runs it again, and only a crash does.

import type { NewEntry } from "../../backend/inbox.ts";
import type { StoredEffect } from "../../backend/state-store.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import type { EffectStatus, Write } from "../../backend/write.ts";
import { errorMessage } from "../../contracts/error.ts";
import { type Json, snapshot } from "../../contracts/json.ts";
import { withoutKeys } from "../../models/without-keys.ts";
import { timeoutOf } from "../calls/ledger.ts";
import { shownLeft } from "../calls/left-behind.ts";
import type { Host } from "../host.ts";
import { inWords } from "../schemas/in-words.ts";
import { markedSecrets } from "../schemas/parameters-schema.ts";
import { installationSecrets } from "../secrets/installation-secrets.ts";
import { createKnownSecrets } from "../secrets/known-secrets.ts";
import { secretMarks } from "../secrets/secret-marks.ts";
import { shownError } from "../secrets/shown-error.ts";
import { KeptWrites } from "../state/state-buffer.ts";
import { stateAtRest } from "../state-at-rest.ts";
import { effectChanged } from "./effect-view.ts";

/** What goes into one commit, and what whoever follows the thread is told once that is done. */
export type EffectStep = {
  readonly writes: readonly Write[];
  readonly entries: readonly NewEntry[];
  readonly events: readonly { readonly event: string; readonly data: Json }[];
};

export type EffectScope = {
  readonly thread: Thread;
  /** As it was when it was found to be due, before it began. */
  readonly effect: StoredEffect;
  /** How long its handler may take; as long as a tool unless given. */
  readonly timeoutMs?: number;
  /** Fires when somebody stops the thread. */
  readonly cut?: AbortSignal;
};

/** How often an effect is begun again that was interrupted. */
const MOST_RETRIES = 3;

/** The first of two commits: that it begins. */
export function beginEffect(effect: StoredEffect): EffectStep {
  return changed(effect, ["pending", "processing"], "processing");
}

/**
 * The second: what the handler did and that the effect is completed, or only that it failed, and why. Never throws
 * because of what the handler does. One that was interrupted too often fails without being run once more.
 */
export async function performEffect(host: Host, scope: EffectScope): Promise<EffectStep> {
  const { thread, effect, timeoutMs = timeoutOf(undefined), cut } = scope;
  const fails = (error: string) => changed(effect, ["processing"], "failed", error);
  if (effect.attempts > MOST_RETRIES) return fails(`It was interrupted ${effect.attempts} times, and is given up.`);
  const definition = host.registry.effects.get(effect.name);
  if (!definition) return fails(`Nobody here knows the effect "${effect.name}".`);
  const { id, name } = effect;
  const args: unknown = JSON.parse(host.sealing.open(effect.args, thread.id));
  const checked = (await definition.args?.validate(args)) ?? { ok: true, value: args };
  const kept = new KeptWrites({ hasRun: false });
  const secrets = createKnownSecrets(installationSecrets(host));
  secrets.addFrom(snapshot(args), definition.args && secretMarks(markedSecrets(definition.args.json)));
  if (!checked.ok) return fails(secrets.clean(`Its arguments are not what it takes: ${inWords(checked.problems)}`));
  const state = await stateAtRest(host, thread, { buffer: kept, effect: { id, name }, secrets });
  try {
    await within(
      timeoutMs,
      definition.outlivesStop ? undefined : cut,
      async () => await definition.handler(state, checked.value),
    );
  } catch (thrown) {
    host.report(shownError(thrown, secrets), thread.id);
    return fails(withoutKeys(secrets.clean(errorMessage(thrown))));
  }
  const { writes, events } = changed(effect, ["processing"], "completed");
  const left = shownLeft({ writes: kept.writes, entries: kept.entries, events: kept.events }, secrets);
  // First of all: what the handler writes may end the thread.
  return { writes: [...writes, ...left.writes], entries: left.entries, events: [...left.events, ...events] };
}

function changed(
  effect: StoredEffect,
  from: readonly EffectStatus[],
  to: "processing" | "completed" | "failed",
  error?: string,
): EffectStep {
  const { id, thread_id } = effect;
  const change = { write: "effect_change", thread_id, id, from, to, ...(error !== undefined && { error }) } as const;
  return { writes: [change], entries: [], events: [effectChanged(effect, to, error)] };
}

/** Rejects once the time is up, or somebody wants the thread to stop: what the work still writes is for nobody. */
async function within(milliseconds: number, cut: AbortSignal | undefined, work: () => Promise<unknown>): Promise<void> {
  const timeUp = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeUp.reject(new Error(`It did not end within ${milliseconds} ms.`)), milliseconds);
  // What is given up with the process must not keep it alive.
  timer.unref();
  const stop = () => timeUp.reject(new Error("It was cut off, because the thread was stopped."));
  cut?.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([work(), timeUp.promise]);
  } finally {
    clearTimeout(timer);
    cut?.removeEventListener("abort", stop);
  }
}
