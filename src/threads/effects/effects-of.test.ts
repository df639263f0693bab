import { describe, expect, it } from "vitest";
import { hostAtRest } from "../../../test/host-at-rest.ts";
import type { EffectStatus } from "../../backend/write.ts";
import type { Json } from "../../contracts/json.ts";
import { createEntry } from "../new-entry.ts";
import { effectsOf } from "./effects-of.ts";

const HOUR = 3_600_000_000;

/** A thread with an effect that is to run in an hour. */
async function scheduled() {
  const { host, stores, thread, sealing } = await hostAtRest();
  const thread_id = thread.id;
  const args = sealing.seal(JSON.stringify({ name: "Ann" }), thread_id);
  const effect = { id: "e1", name: "greet", args, after: HOUR, manual_run: false, replayed_from: null };
  await stores.writes.apply(thread_id, [{ write: "effect", thread_id, effect }]);
  const told: Json[] = [];
  const effects = effectsOf(host, thread_id, { onEvent: (_id, event, data) => told.push([event, data]) });
  const become = (to: EffectStatus) =>
    stores.writes.apply(thread_id, [{ write: "effect_change", thread_id, id: "e1", from: ["pending"], to }]);
  return { host, stores, thread_id, effects, told, become };
}

describe("the effects of a thread", () => {
  it("are listed with everything that is known of them", async () => {
    const { effects } = await scheduled();

    expect(await effects.list()).toEqual([
      {
        ...{ id: "e1", name: "greet", args: { name: "Ann" }, status: "pending", attempts: 0, error: null },
        ...{ scheduledAt: expect.any(Number), createdAt: expect.any(Number), completedAt: null },
        ...{ manualRun: false, manualRunAt: null, replayedFrom: null },
      },
    ]);
    expect(await effects.list({ name: "other" })).toEqual([]);
  });

  it("are of a thread that there is", async () => {
    const { host } = await scheduled();

    await expect(effectsOf(host, "nobody").list()).rejects.toMatchObject({ code: "thread_not_found" });
    await expect(effectsOf(host, "nobody").run("e1")).rejects.toMatchObject({ code: "thread_not_found" });
  });
});

describe("to run an effect now", () => {
  it("makes one due that waits for its time", async () => {
    const { effects, stores, thread_id, told } = await scheduled();

    expect(await effects.run("e1")).toEqual({ action: "ran", id: "e1" });

    expect(await stores.state.dueEffect(thread_id)).toMatchObject({ id: "e1", manual_run: true });
    expect((await effects.list())[0]?.manualRunAt).toEqual(expect.any(Number));
    expect(told).toEqual([["effect_changed", { id: "e1", name: "greet", status: "pending", error: null }]]);
  });

  it.each(["completed", "failed", "user_canceled", "agent_canceled"] as const)(
    "makes a copy of one that is %s",
    async (status) => {
      const { effects, stores, thread_id, become } = await scheduled();
      await become(status);

      const ran = await effects.run("e1");

      expect(ran).toEqual({ action: "replayed", id: "e1", replayedId: expect.any(String) });
      expect(await stores.state.dueEffect(thread_id)).toMatchObject({
        replayed_from: "e1",
        manual_run: true,
        name: "greet",
      });
      expect((await effects.list({ status: "pending" }))[0]?.args).toEqual({ name: "Ann" });
      expect(await stores.state.effect(thread_id, "e1")).toMatchObject({ status });
    },
  );

  it("is refused while it is under way", async () => {
    const { effects, become } = await scheduled();
    await become("processing");

    await expect(effects.run("e1")).rejects.toMatchObject({ code: "effect_not_pending" });
  });

  it("is refused for one that is not there, and once the thread is terminated", async () => {
    const { effects, stores, thread_id } = await scheduled();

    await expect(effects.run("e2")).rejects.toMatchObject({ code: "effect_not_found" });
    await stores.threads.terminate(thread_id, createEntry.stop("Enough."));
    await expect(effects.run("e1")).rejects.toMatchObject({ code: "thread_terminated" });
  });
});

describe("to cancel an effect", () => {
  it("keeps it from running, and keeps it in the list", async () => {
    const { effects, told } = await scheduled();

    await effects.cancel("e1");

    expect(await effects.list()).toMatchObject([{ id: "e1", status: "user_canceled" }]);
    expect(told).toEqual([["effect_changed", { id: "e1", name: "greet", status: "user_canceled", error: null }]]);
  });

  it("comes too late once it has begun, and cannot be done twice", async () => {
    const begun = await scheduled();
    await begun.become("processing");
    await expect(begun.effects.cancel("e1")).rejects.toMatchObject({ code: "effect_not_pending" });

    const cancelled = await scheduled();
    await cancelled.effects.cancel("e1");
    await expect(cancelled.effects.cancel("e1")).rejects.toMatchObject({ code: "effect_not_pending" });
    await expect(cancelled.effects.cancel("e2")).rejects.toMatchObject({ code: "effect_not_found" });
  });
});
