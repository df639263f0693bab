// The effects of a thread, for whoever runs the place: what is scheduled and what was, run now, cancelled.
import type { StoredEffect } from "../../backend/state-store.ts";
import type { EffectStatus, Write } from "../../backend/write.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";
import { checkQuery } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { markedSecrets } from "../schemas/parameters-schema.ts";
import { hideSecrets } from "../secrets/hide-secrets.ts";
import { installationSecrets } from "../secrets/installation-secrets.ts";
import { createKnownSecrets } from "../secrets/known-secrets.ts";
import { secretMarks } from "../secrets/secret-marks.ts";
import type { ScheduledEffect } from "../state/thread-state.ts";
import { threadNotFound, threadTerminated } from "../thread-errors.ts";
import { effectChanged, scheduledEffect } from "./effect-view.ts";

export type EffectQuery = {
  readonly name?: string;
  readonly status?: EffectStatus;
  /** 100 unless given; 500 at most. */
  readonly limit?: number;
  /** Without what is secret in what they were scheduled with: for whoever only looks. */
  readonly hidesSecrets?: boolean;
};

/** `ran`: it is due now. `replayed`: it had ended, and a copy of it is due now. */
export type RunNow =
  | { readonly action: "ran"; readonly id: string }
  | { readonly action: "replayed"; readonly id: string; readonly replayedId: string };

export interface Effects {
  /** Newest first. */
  list(query?: EffectQuery): Promise<readonly ScheduledEffect[]>;
  /** Throws `effect_not_found`, `thread_terminated`, or `effect_not_pending` while it is under way. */
  run(id: string): Promise<RunNow>;
  /** Throws `effect_not_found`, or `effect_not_pending` once it has begun. A cancelled one stays in the list. */
  cancel(id: string): Promise<void>;
}

type OnEvent = (threadId: string, event: string, data: Json) => void;

const USUAL_LIMIT = 100;
const LARGEST_LIMIT = 500;

/** How often it is looked again how an effect stands, because it began or ended just then. */
const MOST_LOOKS = 5;

/** Whoever follows the thread is told through `onEvent`. */
export function effectsOf(
  host: Host,
  threadId: string,
  { onEvent = () => undefined }: { readonly onEvent?: OnEvent } = {},
): Effects {
  const { state, threads, writes } = host.stores;

  async function find(id: string): Promise<StoredEffect> {
    const stored = await state.effect(threadId, id);
    if (stored) return stored;
    if (!(await threads.get(threadId))) throw threadNotFound(threadId);
    throw holdfastError("effect_not_found", `The thread "${threadId}" has no effect "${id}".`);
  }

  /** False when something else was faster. */
  async function write(written: Write): Promise<boolean> {
    const outcome = await writes.apply(threadId, [written]);
    if (outcome === "not_found") throw threadNotFound(threadId);
    if (outcome === "terminated") throw threadTerminated(threadId, "and runs no more effects");
    return outcome === "written";
  }

  /** Makes it due now, under its own id or as a copy. */
  async function schedule({ name, args, id, replayed_from }: StoredEffect, replayedId?: string): Promise<boolean> {
    const about = { name, args, after: 0, manual_run: true };
    const effect =
      replayedId === undefined ? { ...about, id, replayed_from } : { ...about, id: replayedId, replayed_from: id };
    if (!(await write({ write: "effect", thread_id: threadId, effect }))) return false;
    const { event, data } = effectChanged(effect, "pending");
    onEvent(threadId, event, data);
    return true;
  }

  return {
    async list({ limit = USUAL_LIMIT, hidesSecrets = false, ...named } = {}) {
      checkQuery({ ...named, limit });
      if (!(await threads.get(threadId))) throw threadNotFound(threadId);
      const stored = await state.effects(threadId, { ...named, limit: Math.min(limit, LARGEST_LIMIT) });
      const found = stored.map((effect) => scheduledEffect(effect, host.sealing));
      return hidesSecrets ? found.map((effect) => withoutSecrets(host, effect)) : found;
    },

    async run(id) {
      for (let look = 0; look < MOST_LOOKS; look++) {
        const stored = await find(id);
        if (stored.status === "processing") break;
        const replayedId = stored.status === "pending" ? undefined : crypto.randomUUID();
        if (!(await schedule(stored, replayedId))) continue;
        return replayedId === undefined ? { action: "ran", id } : { action: "replayed", id, replayedId };
      }
      throw notPending(id, "is under way");
    },

    async cancel(id) {
      const stored = await find(id);
      if (stored.status !== "pending") throw notPending(id, `is ${stored.status}`);
      await write({ write: "effect_change", thread_id: threadId, id, from: ["pending"], to: "user_canceled" });
      const { status } = await find(id);
      // It may have begun between the two.
      if (status !== "user_canceled") throw notPending(id, `is ${status}`);
      const { event, data } = effectChanged(stored, "user_canceled");
      onEvent(threadId, event, data);
    },
  };
}

/** What stands under a name that tells, what its definition marks, and what the installation keeps. */
function withoutSecrets(host: Host, effect: ScheduledEffect): ScheduledEffect {
  const schema = host.registry.effects.get(effect.name)?.args;
  const marks = schema && secretMarks(markedSecrets(schema.json));
  const secrets = createKnownSecrets(installationSecrets(host));
  return { ...effect, args: hideSecrets(effect.args as JsonMap, secrets, marks) as JsonMap };
}

function notPending(id: string, words: string) {
  return holdfastError("effect_not_pending", `The effect "${id}" ${words}.`);
}
