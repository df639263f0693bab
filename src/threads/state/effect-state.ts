// The effects of a thread, as its state offers them: scheduled, listed and taken back.
import type { StoredEffect } from "../../backend/state-store.ts";
import type { EffectStatus, NewEffect } from "../../backend/write.ts";
import { snapshotMap } from "../../contracts/json.ts";
import { checkName, checkNumber } from "../check-arguments.ts";
import { effectChanged, scheduledEffect } from "../effects/effect-view.ts";
import type { Host } from "../host.ts";
import { definitionNotFound } from "./definition-state.ts";
import { requireLive } from "./require-live.ts";
import type { StateScope } from "./state-scope.ts";
import type { ThreadState } from "./thread-state.ts";

type EffectState = Pick<ThreadState, "scheduleEffect" | "getScheduledEffects" | "removeScheduledEffect">;

/** Nobody looks through more of them at once. */
const MOST = 1_000;

export function effectState(host: Host, scope: StateScope): EffectState {
  const { buffer } = scope;
  const thread_id = scope.thread.id;
  const tell = (effect: Pick<StoredEffect, "id" | "name">, status: EffectStatus) => {
    const { event, data } = effectChanged(effect, status);
    buffer.emit(event, data);
  };

  /** What waits for its time, as it is now: the soonest first. */
  async function pending(name?: string): Promise<readonly StoredEffect[]> {
    const stored = await host.stores.state.effects(thread_id, {
      status: "pending",
      limit: MOST,
      ...(name !== undefined && { name }),
    });
    // The newest come first from the store. Sorting keeps the order of those that are due at one time: that of their creation.
    const byId = new Map(stored.toReversed().map((effect) => [effect.id, effect]));
    for (const write of buffer.writes) {
      if (write.write === "effect" && write.thread_id === thread_id) {
        if (name === undefined || write.effect.name === name) byId.set(write.effect.id, unstored(write.effect));
      } else if (write.write === "effect_change" && write.thread_id === thread_id && write.from.includes("pending")) {
        byId.delete(write.id);
      }
    }
    return [...byId.values()].sort((left, right) => left.scheduled_at - right.scheduled_at);
  }

  function unstored({ after, ...effect }: NewEffect): StoredEffect {
    const now = host.now() * 1_000;
    const nothingYet = { attempts: 0, error: null, completed_at: null, manual_run_at: null };
    return { ...effect, ...nothingYet, thread_id, status: "pending", scheduled_at: now + after, created_at: now };
  }

  return {
    async scheduleEffect(name, args = {}, delayMs = 0) {
      checkName("name", name);
      checkNumber("delayMs", delayMs);
      const { effects } = host.registry;
      if (!effects.has(name)) throw definitionNotFound("effect", name, effects.keys());
      await requireLive(host, scope);
      const id = crypto.randomUUID();
      const sealed = host.sealing.seal(JSON.stringify(snapshotMap(args)), thread_id);
      const effect = { id, name, args: sealed, after: delayMs * 1_000, manual_run: false, replayed_from: null };
      await buffer.write({ write: "effect", thread_id, effect });
      tell({ id, name }, "pending");
      return id;
    },
    async getScheduledEffects(name) {
      if (name !== undefined) checkName("name", name);
      return (await pending(name)).map((effect) => scheduledEffect(effect, host.sealing));
    },
    async removeScheduledEffect(id) {
      const found = (await pending()).find((effect) => effect.id === id);
      if (!found) return false;
      await buffer.write({ write: "effect_change", thread_id, id, from: ["pending"], to: "agent_canceled" });
      tell(found, "agent_canceled");
      return true;
    },
  };
}
